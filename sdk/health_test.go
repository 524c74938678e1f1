// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestProbesSayWhatIsWaitedFor(t *testing.T) {
	tide := newWorker(&Provider{kind: tideKind}, nil, nil)
	moon := newWorker(&Provider{kind: schema.GroupVersionKind{Kind: "Moon"}}, nil, nil)
	handler := healthHandler([]*worker{tide, moon})
	probe := func(path string, wantCode int, wantBody string) {
		t.Helper()
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if body := strings.TrimSpace(response.Body.String()); response.Code != wantCode || body != wantBody {
			t.Errorf("%s: %d %q, want %d %q", path, response.Code, body, wantCode, wantBody)
		}
	}
	// A standby has nothing to wait for.
	probe("/readyz", http.StatusOK, "ok")
	why := "install its CRD"
	moon.waiting.Store(&why)
	probe("/readyz", http.StatusServiceUnavailable, "Moon: install its CRD")
	probe("/healthz", http.StatusOK, "ok")
	moon.waiting.Store(nil)
	probe("/readyz", http.StatusOK, "ok")
}

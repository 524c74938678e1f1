// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// timeouts fails each request as a name that cannot be looked up does: every time
// from another port.
type timeouts struct {
	requests int
	failed   chan struct{} // holds a token when a request has failed
}

func (r *timeouts) RoundTrip(*http.Request) (*http.Response, error) {
	r.requests++
	select {
	case r.failed <- struct{}{}:
	default:
	}
	return nil, fmt.Errorf("lookup api.example.com: read udp 192.0.2.1:%d->192.0.2.53:53: i/o timeout", 40000+r.requests)
}

// What is no news is not told: whoever is told writes it down.
func TestAFailureThatDiffersInANumberOnlyIsToldOnce(t *testing.T) {
	t.Parallel()
	r := &timeouts{failed: make(chan struct{}, 1)}
	config := devplanetest.Plane(t).Config()
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return r })
	registry, changes := startRegistry(t, config)
	ctx := devplanetest.Context(t)
	next := func(what string, event <-chan struct{}) {
		t.Helper()
		select {
		case <-event:
		case <-ctx.Done():
			t.Fatal("it does not " + what)
		}
	}
	next("tell of the first failure", changes)
	told := registry.Err().Error()
	if !strings.Contains(told, "i/o timeout") {
		t.Fatalf("it says %q", told)
	}
	for range 4 { // a try makes no more than two requests
		next("try again", r.failed)
		if now := registry.Err().Error(); now != told {
			t.Errorf("it said %q, and now says %q", told, now)
		}
	}
	select {
	case <-changes:
		t.Error("it is told again")
	default:
	}
}

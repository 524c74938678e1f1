// SPDX-License-Identifier: Apache-2.0

package schedules_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// gateway stands between a client and the API server and can be told to answer
// every request itself, with an HTTP status.
type gateway struct {
	*httptest.Server
	proxy *httputil.ReverseProxy

	mu     sync.Mutex
	answer int           // 0: pass requests on
	refuse chan struct{} // closed when answer is set
	turned chan struct{} // holds a token when a request was turned away
}

func newGateway(t *testing.T, config *rest.Config) *gateway {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{proxy: httputil.NewSingleHostReverseProxy(target), refuse: make(chan struct{}), turned: make(chan struct{}, 1)}
	g.proxy.Transport = transport
	g.proxy.FlushInterval = -1
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

// ServeHTTP implements http.Handler. A watch that was passed on ends when the
// gateway begins to refuse.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	answer, refuse := g.answer, g.refuse
	g.mu.Unlock()
	if answer != 0 {
		http.Error(w, strconv.Itoa(answer), answer)
		select {
		case g.turned <- struct{}{}:
		default:
		}
		return
	}
	ctx, cancel := contextWithStop(r.Context(), refuse)
	defer cancel()
	g.proxy.ServeHTTP(w, r.WithContext(ctx))
}

func (g *gateway) set(answer int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = answer
	if answer != 0 {
		close(g.refuse)
	} else {
		g.refuse = make(chan struct{})
	}
}

func TestAnOutageIsNoNews(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{
		"unavailable": http.StatusServiceUnavailable, "forbidden": http.StatusForbidden,
		"unauthorized": http.StatusUnauthorized, "not found": http.StatusNotFound,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := devplanetest.Plane(t).Config()
			g := newGateway(t, config)
			d := newDesk(t, &rest.Config{Host: g.URL, QPS: -1})
			d.install("v1")
			d.publish("v1", `{"active":true}`)
			d.awaitReading(contract.Active, contract.ReasonResolved)

			g.set(status)
			ctx := devplanetest.Context(t)
			for range 4 { // both watches end and are refused anew
				select {
				case <-g.turned:
				case <-ctx.Done():
					t.Fatal("nothing was refused")
				}
				if reading, known := d.read(); !known || reading.State != contract.Active {
					t.Fatalf("during the outage the schedule reads as %+v (known: %v)", reading, known)
				}
			}
			d.publish("v1", `{"active":false}`)
			g.set(0)
			d.awaitReading(contract.Inactive, contract.ReasonResolved)
		})
	}
}

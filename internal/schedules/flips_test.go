// SPDX-License-Identifier: Apache-2.0

package schedules_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// barrier fails requests for one version of a kind while it is closed.
type barrier struct {
	http.RoundTripper

	path   string
	open   atomic.Bool
	turned chan struct{} // holds a token when a request was turned away
}

func (b *barrier) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.open.Load() || !strings.HasPrefix(request.URL.Path, b.path) {
		return b.RoundTripper.RoundTrip(request)
	}
	select {
	case b.turned <- struct{}{}:
	default:
	}
	return nil, errors.New("no conversion to this version yet")
}

func (b *barrier) awaitTurned(t *testing.T) {
	t.Helper()
	select {
	case <-b.turned:
	case <-devplanetest.Context(t).Done():
		t.Fatal("nobody has asked for the version")
	}
}

// An upgrade of a provider makes another version the preferred one before that can
// be read: what was read so far stays, and is followed while it is served.
func TestAVersionThatCannotBeReadYetHidesNoSchedule(t *testing.T) {
	t.Parallel()
	b := &barrier{path: "/apis/" + contract.Group + "/v2/", turned: make(chan struct{}, 1)}
	config := devplanetest.Plane(t).Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { b.RoundTripper = next; return b })
	d := newDesk(t, config)
	d.install("v1")
	d.publish("v1", `{"active":true}`)
	d.awaitReading(contract.Active, contract.ReasonResolved)
	still := func(when string, want contract.State) {
		t.Helper()
		b.awaitTurned(t)
		b.awaitTurned(t) // the answer to the first has been taken in
		if reading, known := d.read(); !known || reading.State != want {
			t.Errorf("%s it reads as %+v (known: %t), want %s", when, reading, known, want)
		}
	}

	devplanetest.Apply(t, []byte(d.definition([]string{"v2", "v1"}, []string{"v2", "v1"})))
	still("while the new version cannot be read", contract.Active)
	d.publish("v1", `{"active":false}`)
	d.awaitReading(contract.Inactive, contract.ReasonResolved)
	devplanetest.Apply(t, []byte(d.definition([]string{"v2", "v1"}, []string{"v2"})))
	still("when the old version is served no more", contract.Inactive)

	b.open.Store(true)
	d.publish("v2", `{"active":true}`)
	d.awaitReading(contract.Active, contract.ReasonResolved)
	d.uninstall()
	d.awaitReading(contract.Unresolved, contract.ReasonProviderCRDNotInstalled)
}

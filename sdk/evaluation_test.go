// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestWhatEvaluateStopsToLookAtIsLetGo evaluates one schedule again and again,
// each time with other inputs.
func TestWhatEvaluateStopsToLookAtIsLetGo(t *testing.T) {
	following := map[string]context.Context{}
	measures, err := newMeasures(prometheus.NewRegistry(), tideKind.Kind, "")
	if err != nil {
		t.Fatal(err)
	}
	in := newInputs(t.Context(), inputsConfig{
		options:  options{clock: clocktesting.NewFakeClock(noon), reads: []declaration{ConfigMaps.declaration()}},
		measures: measures,
		follow: func(ctx context.Context, ref objectRef, tell func(objectState)) {
			following[ref.name] = ctx //nolint:fatcontext // it is looked at, not built upon
			tell(seen("1"))
		},
		wake: func(types.NamespacedName) {},
	})
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetNamespace("trading")
	object.SetName("desk")
	evaluate := func(reads, asks string) {
		t.Helper()
		e := newEvaluation(in, object, noon)
		ctx := e.in(t.Context())
		if _, err := ConfigMaps.Get(ctx, reads); err != nil {
			t.Fatal(err)
		}
		question := Question[bool]{Server: asks, Ask: func(context.Context) (bool, error) { return true, nil }}
		if _, err := Ask(ctx, question); !errors.Is(err, errIncomplete) {
			t.Fatal(err)
		}
		if e.end() {
			t.Error("an evaluation counts of which an input is not known yet")
		}
	}
	state := func() string {
		var asked []string
		for _, id := range in.polls.pending() {
			asked = append(asked, id.server)
		}
		tides, moon := following["tides"], following["moon"]
		return fmt.Sprintf("tides %t, moon %t, asks %v", tides != nil && tides.Err() == nil, moon != nil && moon.Err() == nil, asked)
	}

	evaluate("tides", "gauge")
	if got := state(); got != "tides true, moon false, asks [gauge]" {
		t.Errorf("at first it follows: %s", got)
	}
	evaluate("tides", "gauge")
	if got := state(); got != "tides true, moon false, asks [gauge]" {
		t.Errorf("with the same inputs it follows: %s", got)
	}
	evaluate("moon", "buoy")
	if got := state(); got != "tides false, moon true, asks [buoy]" {
		t.Errorf("with others it follows: %s", got)
	}
	in.forget(nameOf(object))
	if got := state(); got != "tides false, moon false, asks []" {
		t.Errorf("when it is gone it follows: %s", got)
	}
}

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
		wake:  func(types.NamespacedName) {},
		begin: func(attempt func()) { attempt() },
	})
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetNamespace("trading")
	object.SetName("desk")
	evaluate := func(reads, asks string) (counts bool) {
		t.Helper()
		e := newEvaluation(in, object, noon)
		ctx := e.in(t.Context())
		if _, err := ConfigMaps.Get(ctx, reads); err != nil {
			t.Fatal(err)
		}
		question := Question[bool]{Server: asks, Ask: func(context.Context) (bool, error) { return true, nil }}
		if _, err := Ask(ctx, question); err != nil && !errors.Is(err, errIncomplete) {
			t.Fatal(err)
		}
		return e.end()
	}
	answer := func() {
		for _, id := range in.polls.pending() {
			in.polls.due(id)
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

	for _, step := range []struct {
		when, reads, asks string
		counts            bool
		want              string
	}{
		{"at first", "tides", "gauge", false, "tides true, moon false, asks [gauge]"},
		{"with the same inputs", "tides", "gauge", true, "tides true, moon false, asks [gauge]"},
		// What it knew may serve it again: this evaluation does not count.
		{"with others of which nothing is known yet", "moon", "buoy", false, "tides true, moon true, asks [buoy gauge]"},
		{"with others", "moon", "buoy", true, "tides false, moon true, asks [buoy]"},
	} {
		if counts := evaluate(step.reads, step.asks); counts != step.counts {
			t.Errorf("%s the evaluation counts: %t", step.when, counts)
		}
		if got := state(); got != step.want {
			t.Errorf("%s it follows: %s", step.when, got)
		}
		answer()
	}
	in.forget(nameOf(object))
	if got := state(); got != "tides false, moon false, asks []" {
		t.Errorf("when it is gone it follows: %s", got)
	}
}

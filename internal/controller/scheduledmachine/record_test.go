// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// noon is an instant with a fraction, so that a time that is not cut to the
// second on its way into a status shows.
var noon = time.Date(2031, 5, 6, 12, 0, 0, 123456789, time.UTC)

func reading(state contract.State) contract.Reading {
	reason := contract.ReasonResolved
	if state == contract.Unresolved {
		reason = contract.ReasonProviderNotReady
	}
	return contract.Reading{Verdict: contract.Verdict{State: state, Reason: reason, Message: "as the test says"}}
}

func TestTheRecordHoldsTheLastVerdictThroughAnyNumberOfUnresolvedReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOf(rapid.SampledFrom([]contract.State{contract.Active, contract.Inactive, contract.Unresolved})).Draw(t, "readings")
		var current *outlook
		var last *bool
		for i, state := range states {
			now := noon.Add(time.Duration(i) * time.Minute)
			before := current
			current, _ = record(&v1beta1.ScheduledMachineSpec{}, current, reading(state), now)
			if state != contract.Unresolved {
				last = new(state == contract.Active)
			}
			if !ptr.Equal(current.Active, last) {
				t.Fatalf("after %v the record says %v, want %v", states[:i+1], current.Active, last)
			}
			if current.Resolved != (state != contract.Unresolved) {
				t.Fatalf("resolved is %v after %v", current.Resolved, state)
			}
			moved := before == nil || !before.LastTransitionTime.Equal(current.LastTransitionTime)
			flipped := before == nil && last != nil || before != nil && !ptr.Equal(before.Active, current.Active)
			if before != nil && moved != flipped {
				t.Fatalf("lastTransitionTime moved: %v, the verdict changed: %v", moved, flipped)
			}
		}
	})
}

func TestAStaleStatusStillCounts(t *testing.T) {
	stale := reading(contract.Active)
	stale.Generation, stale.ObservedGeneration = 3, ptr.To[int64](2)
	got, _ := record(&v1beta1.ScheduledMachineSpec{}, nil, stale, noon)
	if !got.Stale || !got.Resolved || !verdictOf(got) || *got.ProviderGeneration != 2 {
		t.Errorf("got %+v, want resolved, active, stale, of generation 2", got)
	}
}

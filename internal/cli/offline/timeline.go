// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"errors"
	"time"

	"github.com/fivespot/fivespot/sdk"
)

// Stretch is a time during which a schedule says one thing.
type Stretch struct {
	// Start is when it begins to say so; for the first stretch of a timeline, the
	// instant that was asked for.
	Start time.Time
	// End is when it says something else; zero when it never does.
	End time.Time
	// Active is what it says.
	Active bool
	// Reason and Message are those of its Ready condition.
	Reason, Message string
	// Unknown is set where it says nothing, and why. Active is then false, and the
	// timeline ends there: nobody can tell what comes next.
	Unknown error
}

// Timeline returns what a schedule says from an instant, inclusive, until
// another, exclusive. There is always a first stretch.
func (s *Schedule) Timeline(from, until time.Time) []Stretch {
	var stretches []Stretch
	for at := from; at.Before(until) || len(stretches) == 0; {
		stretch, next := s.at(at)
		last := len(stretches) - 1
		switch {
		case last >= 0 && stretches[last].Unknown == nil && stretch.Unknown == nil && stretches[last].Active == stretch.Active:
			stretches[last].End = stretch.End
		default:
			stretches = append(stretches, stretch)
		}
		if !next.After(at) {
			break
		}
		at = next
	}
	return stretches
}

// at returns what the schedule says at an instant and when to ask again; zero for
// never.
func (s *Schedule) at(now time.Time) (Stretch, time.Time) {
	decision, err := s.Evaluate(now)
	if err != nil {
		stretch := Stretch{Start: now.UTC(), Unknown: err, Reason: sdk.ReasonEvaluationFailed}
		if notReady := (*sdk.NotReadyError)(nil); errors.As(err, &notReady) {
			stretch.Reason = notReady.Reason
		}
		return stretch, time.Time{}
	}
	stretch := Stretch{
		Start: now.UTC(), End: decision.Until, Active: decision.Active,
		Reason: decision.Reason, Message: decision.Message,
	}
	if stretch.Reason == "" {
		stretch.Reason = sdk.ReasonReconciled
	}
	return stretch, decision.Until
}

// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"context"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk"
)

// Kind is the name of the schedule kind.
const Kind = "TimeBasedSpotSchedule"

// Provider returns the provider of TimeBasedSpotSchedule.
func Provider(options ...sdk.Option) *sdk.Provider {
	options = append([]sdk.Option{sdk.WithMetricsName("time_based")}, options...)
	return sdk.New(v1alpha1.GroupVersion.WithKind(Kind), Evaluate, options...)
}

// Evaluate says what a schedule is at an instant. The error is an
// *sdk.InvalidSpecError that wraps what [NewPlan] says of the spec.
func Evaluate(_ context.Context, s *v1alpha1.TimeBasedSpotSchedule, now time.Time) (sdk.Decision, error) {
	plan, err := NewPlan(&s.Spec)
	if err != nil {
		return sdk.Decision{}, sdk.InvalidSpec(err)
	}
	answer := plan.At(now)
	return sdk.Decision{Active: answer.Active, Until: answer.Until, Reason: answer.Reason, Message: answer.Message}, nil
}

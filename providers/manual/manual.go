// SPDX-License-Identifier: Apache-2.0

// Package manual decides for a ManualSchedule: a toggle that may turn itself
// over at an instant. It imports the api and the sdk.
package manual

import (
	"context"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk"
)

// Provider returns the provider of ManualSchedule.
func Provider(options ...sdk.Option) *sdk.Provider {
	return sdk.New(v1alpha1.GroupVersion.WithKind("ManualSchedule"), Evaluate, options...)
}

// Evaluate reads the toggle: as spec.enabled says until spec.until, and as the
// opposite from that instant on.
func Evaluate(_ context.Context, s *v1alpha1.ManualSchedule, now time.Time) (sdk.Decision, error) {
	decision := sdk.Decision{Active: s.Spec.Enabled, Message: "manual toggle applied"}
	switch until := s.Spec.Until; {
	case until == nil:
	case now.Before(until.Time):
		decision.Until = until.Time
	default:
		decision.Active = !s.Spec.Enabled
	}
	if s.Spec.Reason != "" {
		decision.Message += ": " + s.Spec.Reason
	}
	return decision, nil
}

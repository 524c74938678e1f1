// SPDX-License-Identifier: Apache-2.0

// Package simulation lets sdktest run a provider without a control plane, by the
// code that runs it in production, and keeps the door to that code closed to
// everybody else. It imports the injected clock and nothing of this module.
package simulation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
)

// New returns a simulation of a provider (an *sdk.Provider) by a clock. The sdk
// sets it.
var New func(ctx context.Context, provider any, clock clock.Clock) (Simulation, error)

// Simulation is a provider with objects in memory. Nothing happens by itself.
type Simulation interface {
	// Apply creates an object or replaces it: a schedule, of which the status
	// stays, or one that the provider reads. It returns the kind.
	Apply(object any) (kind string, err error)
	// Delete deletes an object, and returns its kind.
	Delete(object any) (kind string, err error)
	// Get fills the object with its current state.
	Get(object any) error
	// Settle does all that is to be done at the instant of the clock.
	Settle() error
	// Next returns the next instant at which something is to be done, or false
	// when nothing is before the next Apply or Delete.
	Next() (time.Time, bool)
	// Schedules returns the schedules in the order of their names.
	Schedules() []*unstructured.Unstructured
}

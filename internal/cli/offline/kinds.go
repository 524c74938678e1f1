// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/cli/manifest"
	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/providers/capitalmarkets"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/providers/timebased"
	"github.com/fivespot/fivespot/sdk"
)

// Schedule is a schedule object that can be evaluated.
type Schedule struct {
	// Object is where it came from.
	Object *manifest.Object
	// Zone is the time zone in which its times are best shown.
	Zone *schedule.Zone
	// Evaluate is the provider's function, for this object.
	Evaluate func(now time.Time) (sdk.Decision, error)
}

// kind makes a Schedule of an object's JSON.
type kind func(text []byte) (*Schedule, error)

// The kinds whose verdict follows from their spec and an instant alone.
var kinds = map[string]kind{
	"ManualSchedule": kindOf(manual.Evaluate, func(*v1alpha1.ManualSchedule) (*schedule.Zone, error) {
		return schedule.UTC(), nil
	}),
	"TimeBasedSpotSchedule": kindOf(timebased.Evaluate, func(s *v1alpha1.TimeBasedSpotSchedule) (*schedule.Zone, error) {
		plan, err := timebased.NewPlan(&s.Spec)
		if err != nil {
			return nil, err
		}
		return plan.Zone(), nil
	}),
	"CapitalMarketsSchedule": kindOf(capitalmarkets.Evaluate, func(s *v1alpha1.CapitalMarketsSchedule) (*schedule.Zone, error) {
		plan, err := capitalmarkets.NewPlan(&s.Spec)
		if err != nil {
			return nil, err
		}
		return plan.Zone(), nil
	}),
}

// kindOf returns the kind with the given functions. The second returns the zone
// of a spec, or what is wrong with it.
func kindOf[T any](
	evaluate func(context.Context, *T, time.Time) (sdk.Decision, error),
	zone func(*T) (*schedule.Zone, error),
) kind {
	return func(text []byte) (*Schedule, error) {
		decode := func() (*T, error) {
			object := new(T)
			if err := json.Unmarshal(text, object); err != nil {
				return nil, fmt.Errorf("the object does not have the shape of its kind: %w", err)
			}
			return object, nil
		}
		object, err := decode()
		if err != nil {
			return nil, err
		}
		s := &Schedule{}
		if s.Zone, err = zone(object); err != nil {
			return nil, err
		}
		s.Evaluate = func(now time.Time) (sdk.Decision, error) {
			fresh, err := decode() // The function may change what it is given.
			if err != nil {
				return sdk.Decision{}, err
			}
			return evaluate(context.Background(), fresh, now.UTC())
		}
		return s, nil
	}
}

// IsSchedule reports whether an object is of the API group of schedules.
func IsSchedule(object *manifest.Object) bool { return object.Group() == contract.Group }

// CanEvaluate reports whether the verdict of an object follows from its spec and
// an instant alone.
func CanEvaluate(object *manifest.Object) bool {
	_, known := kinds[object.Kind]
	return known && IsSchedule(object)
}

// Read returns the schedule of an object for which CanEvaluate is true. The
// error tells what is wrong with its spec.
func Read(object *manifest.Object) (*Schedule, error) {
	known, ok := kinds[object.Kind]
	if !ok {
		return nil, fmt.Errorf("%s follows no rule that can be evaluated without a cluster", object.Kind)
	}
	text, err := json.Marshal(object.Content)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", object, err)
	}
	s, err := known(text)
	if err != nil {
		return nil, err
	}
	s.Object = object
	return s, nil
}

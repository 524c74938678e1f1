// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

func TestAScheduleFlipsAtItsInstantAndNotBefore(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	seen := watchRequests(t, t.Name())
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	boundary := workday.Add(8 * time.Hour)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true, Until: at(boundary)})
	awaitVerdict(t, s, true)
	if !s.Status.NextTransitionTime.Time.Equal(boundary) {
		t.Errorf("nextTransitionTime %v, want %v", s.Status.NextTransitionTime, boundary)
	}
	version := s.ResourceVersion

	clock.SetTime(boundary.Add(-time.Nanosecond))
	settle(t, namespace)
	if err := devplanetest.Client(t).Get(t.Context(), keyOf(s), s); err != nil {
		t.Fatal(err)
	}
	if s.ResourceVersion != version {
		t.Errorf("it was written a nanosecond early: %+v", s.Status)
	}

	clock.SetTime(boundary)
	awaitVerdict(t, s, false)
	if !s.Status.LastTransitionTime.Time.Equal(boundary) {
		t.Errorf("lastTransitionTime %v, want %v", s.Status.LastTransitionTime, boundary)
	}
	if s.Status.NextTransitionTime != nil {
		t.Errorf("nextTransitionTime %v, want none", s.Status.NextTransitionTime)
	}
	settle(t, namespace)
	if got := patchesOf(seen.untilNow(), namespace, "desk"); len(got) != 2 {
		t.Errorf("a creation and a flip brought %d writes: %v", len(got), got)
	}
}

func TestABoundaryThatPassedWhileTheProviderWasAwayIsOneTransition(t *testing.T) {
	for _, away := range []time.Duration{17 * time.Minute, 3 * 7 * 24 * time.Hour} {
		t.Run(away.String(), func(t *testing.T) {
			namespace := devplanetest.Namespace(t)
			clock := newClock()
			// Active from 10 to 30 minutes past every hour.
			provider := func() *sdk.Provider {
				return sdk.New(manualKind, func(_ context.Context, _ *v1alpha1.ManualSchedule, now time.Time) (sdk.Decision, error) {
					hour := now.Truncate(time.Hour)
					switch minute := now.Minute(); {
					case minute < 10:
						return sdk.Decision{Until: hour.Add(10 * time.Minute)}, nil
					case minute < 30:
						return sdk.Decision{Active: true, Until: hour.Add(30 * time.Minute)}, nil
					}
					return sdk.Decision{Until: hour.Add(70 * time.Minute)}, nil
				}, sdk.WithClock(clock))
			}
			seen := watchRequests(t, "S04")
			run := func() *running {
				config := account(t)
				config.UserAgent = "S04"
				return start(t, sdk.Settings{RESTConfig: config}, provider())
			}
			program := run()
			s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{})
			awaitVerdict(t, s, false) // at 06:50
			program.stop()
			seen.untilNow()

			clock.Step(away + 25*time.Minute - (away % time.Hour))
			restarted := clock.Now() // at 15 minutes past some hour
			program = run()
			awaitVerdict(t, s, true)
			if !s.Status.LastTransitionTime.Time.Equal(restarted) {
				t.Errorf("lastTransitionTime %v, want that of the restart, %v", s.Status.LastTransitionTime, restarted)
			}
			if want := restarted.Add(15 * time.Minute); !s.Status.NextTransitionTime.Time.Equal(want) {
				t.Errorf("nextTransitionTime %v, want %v", s.Status.NextTransitionTime, want)
			}
			settle(t, namespace)
			program.stop()
			if got := patchesOf(seen.untilNow(), namespace, "desk"); len(got) != 1 {
				t.Errorf("the restart wrote %d times, want once: %v", len(got), got)
			}

			program = run()
			settle(t, namespace)
			program.stop()
			if got := patchesOf(seen.untilNow(), namespace, "desk"); len(got) != 0 {
				t.Errorf("the second restart wrote: %v", got)
			}
		})
	}
}

func TestAnEditThatMovesTheBoundaryMovesTheWakeUp(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true, Until: at(workday.Add(time.Hour))})
	awaitVerdict(t, s, true)
	patch(t, s, fmt.Sprintf(`{"spec":{"until":%q}}`, workday.Add(3*time.Hour).Format(time.RFC3339)))
	awaitVerdict(t, s, true)
	clock.Step(2 * time.Hour)
	settle(t, namespace)
	awaitVerdict(t, s, true)
	clock.Step(time.Hour)
	awaitVerdict(t, s, false)
	if want := workday.Add(3 * time.Hour); !s.Status.LastTransitionTime.Time.Equal(want) {
		t.Errorf("lastTransitionTime %v, want %v", s.Status.LastTransitionTime, want)
	}
}

// What is meant for ever lies, in places west of Greenwich, in a year of UTC that no
// RFC 3339 time has. The API server would refuse a status with it.
func TestABoundaryThatCannotBeSpelledIsNotPublished(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	start(t, sdk.Settings{}, manual.Provider())
	applied := devplanetest.ApplyIn(t, namespace, []byte(`
apiVersion: spotschedules.5spot.finos.org/v1alpha1
kind: ManualSchedule
metadata: {name: desk}
spec: {enabled: true, until: "9999-12-31T23:59:59-05:00"}
`))
	s := &v1alpha1.ManualSchedule{}
	s.Namespace, s.Name, s.Generation = namespace, "desk", applied[0].GetGeneration()
	awaitVerdict(t, s, true)
	if s.Status.NextTransitionTime != nil {
		t.Errorf("nextTransitionTime %v, want none", s.Status.NextTransitionTime)
	}
}

// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/capitalmarkets"
	"github.com/fivespot/fivespot/sdk"
)

// quiet logs nowhere. A logger without a sink would be replaced by one that does.
var quiet = funcr.New(func(string, string) {}, funcr.Options{})

// start runs the provider with the rights of its account until the test ends.
func start(t *testing.T, at string) *clocktesting.FakeClock {
	t.Helper()
	clock := clocktesting.NewFakeClock(instant(t, at))
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), "5spot-system", "capital-markets-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- sdk.Run(ctx, sdk.Settings{
			RESTConfig: config, MetricsBindAddress: "0", HealthProbeBindAddress: "0", Logger: quiet,
		}, capitalmarkets.Provider(sdk.WithClock(clock)))
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the provider: %v", err)
		}
	})
	return clock
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func create(t *testing.T, spec string) *v1alpha1.CapitalMarketsSchedule {
	t.Helper()
	s := object(t, devplanetest.Namespace(t), "market", spec)
	if err := devplanetest.Client(t).Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// want is a status that is waited for.
type want struct {
	active          bool
	next            string
	ready           metav1.ConditionStatus
	reason, message string
}

func await(t *testing.T, s *v1alpha1.CapitalMarketsSchedule, w want) {
	t.Helper()
	devplanetest.Await(t, s, func() error {
		if s.Status.Active == nil || s.Status.ObservedGeneration != s.Generation {
			return errors.New("the status does not reflect the spec")
		}
		next := ""
		if s.Status.NextTransitionTime != nil {
			next = s.Status.NextTransitionTime.UTC().Format(time.RFC3339)
		}
		ready := meta.FindStatusCondition(s.Status.Conditions, "Ready")
		if ready == nil {
			return errors.New("there is no Ready condition")
		}
		got := want{*s.Status.Active, next, ready.Status, ready.Reason, ready.Message}
		if w.message == "" {
			got.message = ""
		}
		if got != w {
			return fmt.Errorf("got %+v, want %+v", got, w)
		}
		return nil
	})
}

func TestThanksgivingInNewYork(t *testing.T) {
	clock := start(t, "2026-11-26T15:00:00Z")
	s := create(t, `{exchange: XNYS}`)
	await(t, s, want{
		next: "2026-11-27T14:30:00Z", ready: "True", reason: "SessionClosed",
		message: "XNYS closed for Thanksgiving; opens 2026-11-27 09:30 EST (closes early, 13:00)",
	})
	clock.SetTime(instant(t, "2026-11-27T14:30:00Z"))
	await(t, s, want{active: true, next: "2026-11-27T18:00:00Z", ready: "True", reason: "SessionOpen"})
	if got := s.Status.LastTransitionTime.UTC().Format(time.RFC3339); got != "2026-11-27T14:30:00Z" {
		t.Errorf("lastTransitionTime %s", got)
	}
	clock.SetTime(instant(t, "2026-11-27T18:00:00Z"))
	await(t, s, want{next: "2026-11-30T14:30:00Z", ready: "True", reason: "SessionClosed"})
}

func TestAClosureInMidSession(t *testing.T) {
	clock := start(t, "2026-09-01T02:00:00Z")
	s := create(t, `{timezone: Asia/Hong_Kong, sessions: [
		{daysOfWeek: [mon-fri], open: "09:30", close: "12:00"}, {daysOfWeek: [mon-fri], open: "13:00", close: "16:00"}]}`)
	await(t, s, want{active: true, next: "2026-09-01T04:00:00Z", ready: "True", reason: "SessionOpen"})

	clock.SetTime(instant(t, "2026-09-01T02:10:00Z"))
	edit(t, s, func() { s.Spec.Holidays = []string{"2026-09-01"} })
	await(t, s, want{next: "2026-09-02T01:30:00Z", ready: "True", reason: "SessionClosed"})

	clock.SetTime(instant(t, "2026-09-01T03:00:00Z"))
	edit(t, s, func() { s.Spec.Holidays = nil })
	await(t, s, want{active: true, next: "2026-09-01T04:00:00Z", ready: "True", reason: "SessionOpen"})
}

func TestABadSpecKeepsWhatWasDecided(t *testing.T) {
	start(t, "2026-06-15T15:00:00Z")
	s := create(t, `{exchange: XNYS}`)
	await(t, s, want{active: true, next: "2026-06-15T20:00:00Z", ready: "True", reason: "SessionOpen"})
	edit(t, s, func() { s.Spec.Holidays = []string{"2026-06-15", "2027-02-29"} })
	await(t, s, want{
		active: true, ready: "False", reason: "InvalidSpec",
		message: `spec.holidays[1]: "2027-02-29" is not a date that exists, spelled YYYY-MM-DD, such as 2026-12-25`,
	})
}

func TestACalendarThatEnds(t *testing.T) {
	clock := start(t, "2026-12-31T05:30:00Z")
	s := create(t, `{exchange: XSHG}`)
	await(t, s, want{active: true, next: "2026-12-31T07:00:00Z", ready: "True", reason: "SessionOpen"})
	current := meta.FindStatusCondition(s.Status.Conditions, capitalmarkets.ConditionCalendarCurrent)
	if current == nil || current.Reason != capitalmarkets.ReasonCalendarEndsSoon {
		t.Errorf("the end is not announced: %+v", current)
	}
	clock.SetTime(instant(t, "2026-12-31T16:00:00Z"))
	await(t, s, want{active: true, ready: "False", reason: "CalendarExhausted"})
	current = meta.FindStatusCondition(s.Status.Conditions, capitalmarkets.ConditionCalendarCurrent)
	if current == nil || current.Reason != capitalmarkets.ReasonCalendarExhausted {
		t.Errorf("the end is not told: %+v", current)
	}
}

func edit(t *testing.T, s *v1alpha1.CapitalMarketsSchedule, change func()) {
	t.Helper()
	change()
	if err := devplanetest.Client(t).Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk"
)

func object(t *testing.T, spec string) *v1alpha1.CapitalMarketsSchedule {
	t.Helper()
	return &v1alpha1.CapitalMarketsSchedule{Spec: *parse(t, spec)}
}

func TestEvaluate(t *testing.T) {
	got, err := Evaluate(t.Context(), object(t, `{exchange: XNYS}`), instant(t, "2026-11-26T15:00:00Z"))
	want := sdk.Decision{
		Until: instant(t, "2026-11-27T14:30:00Z"), Reason: ReasonSessionClosed,
		Message: "XNYS closed for Thanksgiving; opens 2026-11-27 09:30 EST (closes early, 13:00)",
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestASpecThatCannotBeReadIsInvalid(t *testing.T) {
	_, err := Evaluate(t.Context(), object(t, `{holidays: ["2027-02-29"]}`), instant(t, "2026-11-26T15:00:00Z"))
	if invalid := (*sdk.InvalidSpecError)(nil); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

func TestTheEndOfACalendarIsAnnounced(t *testing.T) {
	s := object(t, `{exchange: XSHG}`)
	end := instant(t, "2026-12-31T16:00:00Z")
	for _, c := range []struct {
		at             time.Time
		status, reason string
		decides        bool
	}{
		{end.Add(-notice - time.Second), "True", ReasonCalendarKnown, true},
		{end.Add(-notice), "False", ReasonCalendarEndsSoon, true},
		{end.Add(-time.Second), "False", ReasonCalendarEndsSoon, true},
		{end, "False", ReasonCalendarExhausted, false},
	} {
		_, err := Evaluate(t.Context(), s, c.at)
		got := meta.FindStatusCondition(s.Status.Conditions, ConditionCalendarCurrent)
		if got == nil || string(got.Status) != c.status || got.Reason != c.reason {
			t.Errorf("at %s: %+v", c.at, got)
		}
		notReady := (*sdk.NotReadyError)(nil)
		if (err == nil) != c.decides || (err != nil && (!errors.As(err, &notReady) || notReady.Reason != ReasonCalendarExhausted)) {
			t.Errorf("at %s: %v", c.at, err)
		}
	}
	if got := testutil.ToFloat64(knownUntil.WithLabelValues("XSHG")); got != float64(end.Unix()) {
		t.Errorf("the metric says %v, want %v", got, end.Unix())
	}
	s.Spec.Exchange = "XNYS"
	if _, err := Evaluate(t.Context(), s, end); err != nil || len(s.Status.Conditions) != 0 {
		t.Errorf("after a change to an exchange without an end: %v, %v", err, s.Status.Conditions)
	}
}

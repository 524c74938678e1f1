// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/sdk"
)

func TestEvaluateGivesThePlansAnswer(t *testing.T) {
	s := &v1alpha1.TimeBasedSpotSchedule{Spec: v1alpha1.TimeBasedSpotScheduleSpec{
		DaysOfWeek: []string{"mon-fri"}, HoursOfDay: []string{"9-17"},
	}}
	got, err := Evaluate(t.Context(), s, instant(t, "2026-06-15T09:00:00Z"))
	want := sdk.Decision{
		Active: true, Until: instant(t, "2026-06-15T18:00:00Z"),
		Reason: ReasonWindowOpen, Message: "open; closes Mon 2026-06-15 18:00 UTC",
	}
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestABadSpecIsInvalidAndSaysWhere(t *testing.T) {
	s := &v1alpha1.TimeBasedSpotSchedule{Spec: v1alpha1.TimeBasedSpotScheduleSpec{HoursOfDay: []string{"24"}}}
	_, err := Evaluate(t.Context(), s, instant(t, "2026-06-15T09:00:00Z"))
	if _, ok := errors.AsType[*sdk.InvalidSpecError](err); !ok {
		t.Fatalf("got %v", err)
	}
	fields := schedule.FieldErrors(err)
	if len(fields) != 1 || fields[0].Path != "spec.hoursOfDay[0]" || fields[0].Value != "24" {
		t.Errorf("got %+v", fields)
	}
}

// Whatever a spec holds, the answer comes, and Until is a change.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"timezone":"Pacific/Apia","daysOfWeek":["fri"],"hoursOfDay":["0-23"]}`,
		`{"windows":[{"days":["mon-sun"],"start":"22:00","end":"06:00"}],"exceptDates":["2026-12-25"]}`,
		`{"once":[{"start":"2026-12-24T20:00:00+02:00","end":"9999-12-31T23:59:59Z"}]}`,
		`{"timezone":"America/New_York","windows":[{"days":["mon-sun"],"start":"00:00","end":"12:00"},{"days":["mon-sun"],"start":"12:00","end":"24:00"}]}`,
	} {
		f.Add([]byte(seed), int64(1_781_514_000))
	}
	f.Fuzz(func(t *testing.T, text []byte, seconds int64) {
		s := &v1alpha1.TimeBasedSpotSchedule{}
		if json.Unmarshal(text, &s.Spec) != nil {
			t.Skip("not a spec")
		}
		now := time.Unix(seconds, 0).UTC()
		decision, err := Evaluate(t.Context(), s, now)
		if err != nil {
			if len(schedule.FieldErrors(err)) == 0 {
				t.Errorf("the error names no field: %v", err)
			}
			return
		}
		if decision.Until.IsZero() {
			return
		}
		then, err := Evaluate(t.Context(), s, decision.Until)
		if err != nil || then.Active == decision.Active {
			t.Errorf("at %s active is %t until %s, and then %t, %v", now, decision.Active, decision.Until, then.Active, err)
		}
	})
}

// A provider that is stopped and started, however often, comes by the same
// verdicts as one that ran on.
func TestRestartsChangeNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom([]string{
			"an hour that does not exist is not a window that day", "Friday was left out in Apia",
			"clocks go back for Ramadan in Casablanca", "everything together", "always",
		}).Draw(r, "schedule")
		test := timelines[name]
		now := instant(t, test.from).Add(-time.Duration(rapid.Int64Range(0, 100).Draw(r, "hours before")) * time.Hour)
		running := mustPlan(t, test.spec)
		last := running.At(now)
		for range rapid.IntRange(1, 20).Draw(r, "looks") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(40*time.Hour)).Draw(r, "later")))
			if !last.Until.IsZero() && !now.Before(last.Until) {
				last = walk(running, last, now)
			}
			if fresh := mustPlan(t, test.spec).At(now); fresh != last {
				r.Fatalf("at %s a restarted provider says %+v, the running one %+v", now, fresh, last)
			}
		}
	})
}

// walk goes from one change to the next until nothing changes by now.
func walk(plan *Plan, last Answer, now time.Time) Answer {
	for !last.Until.IsZero() && !last.Until.After(now) {
		last = plan.At(last.Until)
	}
	return last
}

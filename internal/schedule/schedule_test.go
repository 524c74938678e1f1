// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"
)

func TestNextChangeInOddSchedules(t *testing.T) {
	utc, newYork := UTC(), mustZone(t, "America/New_York")
	berlin := mustZone(t, "Europe/Berlin")
	apia, kwajalein := mustZone(t, "Pacific/Apia"), mustZone(t, "Pacific/Kwajalein")
	allHours := Hours(1<<24 - 1).Sessions()
	allDay := []Session{{0, minutesPerDay}}
	weekday := Days(0).With(time.Monday).With(time.Tuesday).With(time.Wednesday)
	butWednesday := everyDay &^ Days(0).With(time.Wednesday)
	butSunday := everyDay &^ Days(0).With(time.Sunday)
	monday := NewDate(2026, 6, 15)
	futures := Sessions(newYork, NewWeekly(Days(62).On([]Session{{-360, 1020}}), map[Date][]Session{monday + 1: nil}))
	tests := map[string]struct {
		source Source
		active bool
		from   string
		want   []string
	}{
		"days that touch": {
			WallClock(utc, NewWeekly(weekday.On(allHours), nil)), true, "2026-06-15T00:00:00Z",
			[]string{"2026-06-18T00:00:00Z", "2026-06-22T00:00:00Z"},
		},
		"one day of the week missing": {
			Sessions(utc, NewWeekly(butWednesday.On(allDay), nil)), true, "2026-06-15T00:00:00Z",
			[]string{"2026-06-17T00:00:00Z", "2026-06-18T00:00:00Z"},
		},
		"one day of the week missing, by hours": {
			WallClock(utc, NewWeekly(butWednesday.On(allHours), nil)), true, "2026-06-18T00:00:00Z",
			[]string{"2026-06-24T00:00:00Z", "2026-06-25T00:00:00Z"},
		},
		"a later date's session opens first": {
			Sessions(utc, NewWeekly(Week{}, map[Date][]Session{monday: {{1200, 1260}}, monday + 1: {{-360, -300}}})), false,
			"2026-06-15T00:00:00Z",
			[]string{"2026-06-15T18:00:00Z", "2026-06-15T19:00:00Z", "2026-06-15T20:00:00Z", "2026-06-15T21:00:00Z", ""},
		},
		"a time that is repeated counts once": {
			Sessions(berlin, NewWeekly(Days(0).With(time.Sunday).On([]Session{{150, 165}}), nil)), false,
			"2026-10-24T00:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T00:45:00Z", "2026-11-01T01:30:00Z"},
		},
		"a window within a gap does not open": {
			Sessions(berlin, NewWeekly(Days(0).With(time.Sunday).On([]Session{{130, 170}}), nil)), false,
			"2026-03-28T00:00:00Z",
			[]string{"2026-04-05T00:10:00Z"},
		},
		"nor is anybody ahead of it": {
			Extend(Sessions(berlin, NewWeekly(Days(0).With(time.Sunday).On([]Session{{130, 170}}), nil)), time.Hour, 0), false,
			"2026-03-28T00:00:00Z",
			[]string{"2026-04-04T23:10:00Z", "2026-04-05T00:50:00Z"},
		},
		"an hour of which midnight is skipped": {
			WallClock(mustZone(t, "Africa/Algiers"), NewWeekly(Days(0).With(time.Friday).On([]Session{{0, 240}}), nil)), false,
			"1977-05-05T12:00:00Z",
			[]string{"1977-05-06T00:00:00Z", "1977-05-06T03:00:00Z"},
		},
		// The week's one gap, on Sunday, is covered this once by a session of
		// Monday's that lasts all week.
		"a long session hides a gap once": {
			Sessions(utc, NewWeekly(butSunday.On(allDay), map[Date][]Session{monday: {{0, 7 * minutesPerDay}}})),
			true, "2026-06-16T00:00:00Z",
			[]string{"2026-06-28T00:00:00Z", "2026-06-29T00:00:00Z"},
		},
		"sessions that open the day before": {
			futures, true, "2026-06-15T12:00:00Z",
			[]string{"2026-06-15T21:00:00Z", "2026-06-16T22:00:00Z", "2026-06-17T21:00:00Z"},
		},
		"nothing on a date that was left out": {
			Sessions(apia, NewWeekly(Days(0).With(time.Friday).On([]Session{{540, 600}}), nil)), false,
			"2011-12-29T00:00:00Z",
			[]string{"2012-01-05T19:00:00Z"},
		},
		// Windows of 22:00-10:00 and 10:00-22:00 leave nothing out, but for the
		// morning after the date on which none started.
		"the night of a date that was left out": {
			Sessions(apia, NewWeekly(everyDay.On([]Session{{1320, 2040}, {600, 1320}}), nil)), true,
			"2011-12-01T00:00:00Z",
			[]string{"2011-12-30T10:00:00Z", "2011-12-30T20:00:00Z", ""},
		},
		"a date that was repeated, by hours": {
			WallClock(kwajalein, NewWeekly(Week{}, map[Date][]Session{NewDate(1969, 9, 30): {{600, 660}}})), false,
			"1969-09-29T00:00:00Z",
			[]string{"1969-09-29T23:00:00Z", "1969-09-30T00:00:00Z", "1969-09-30T22:00:00Z", "1969-09-30T23:00:00Z", ""},
		},
		"a date that was repeated": {
			Sessions(kwajalein, NewWeekly(Week{}, map[Date][]Session{NewDate(1969, 9, 30): {{600, 660}}})), false,
			"1969-09-29T00:00:00Z",
			[]string{"1969-09-29T23:00:00Z", "1969-09-30T00:00:00Z", ""},
		},
		"a gap as long as the bridge stays": {
			Bridge(Sessions(utc, NewWeekly(everyDay.On([]Session{{540, 690}, {750, 900}}), nil)), time.Hour), true,
			"2026-06-15T10:00:00Z",
			[]string{"2026-06-15T11:30:00Z"},
		},
		"a gap a second shorter does not": {
			Bridge(Sessions(utc, NewWeekly(everyDay.On([]Session{{540, 690}, {750, 900}}), nil)), time.Hour+time.Second), true,
			"2026-06-15T10:00:00Z",
			[]string{"2026-06-15T15:00:00Z"},
		},
		"sessions that are empty": {Sessions(utc, NewWeekly(everyDay.On([]Session{{540, 540}, {600, 500}}), nil)), false, "2026-06-15T10:00:00Z", []string{""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(test.source)
			at, active := instantOf(t, test.from), test.active
			for _, want := range test.want {
				if s.Active(at) != active {
					t.Fatalf("%s: active is %t", at.Format(time.RFC3339), !active)
				}
				next, ok := s.NextChange(at)
				if got := next.Format(time.RFC3339); ok != (want != "") || ok && got != want {
					t.Fatalf("%s: next change %s (%t), want %q", at.Format(time.RFC3339), got, ok, want)
				}
				at, active = next, !active
			}
		})
	}
}

const everyDay Days = 1<<daysPerWeek - 1

// unknown is a Dates that says nothing about its regularity, as a calendar of
// rules may.
type unknown struct{ *Weekly }

func (unknown) RegularUntil(d Date) Date { return d }
func (unknown) Settled() (Date, bool)    { return 0, false }

func TestDatesWithoutRegularityAreWalked(t *testing.T) {
	s := New(Sessions(UTC(), unknown{NewWeekly(everyDay.On([]Session{{540, 600}}), map[Date][]Session{NewDate(2026, 6, 16): nil})}))
	if got, ok := s.NextChange(instantOf(t, "2026-06-15T10:00:00Z")); !ok || !got.Equal(instantOf(t, "2026-06-17T09:00:00Z")) {
		t.Errorf("got %s, %t", got, ok)
	}
	always := New(Sessions(UTC(), unknown{NewWeekly(everyDay.On([]Session{{0, minutesPerDay}}), nil)}))
	if got, ok := always.NextChange(instantOf(t, "2026-06-15T10:00:00Z")); ok {
		t.Errorf("got %s", got)
	}
}

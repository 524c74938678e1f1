// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What Extend and Bridge make of a source equals what is made of its minutes.
func TestExtendAndBridgeEqualAScanOfEveryMinute(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		zoneName := genZone().Draw(r, "zone")
		zone := mustZone(t, zoneName)
		from := genStart(r, zone)
		const minutes, margin = 5 * 24 * 60, 3 * 24 * 60
		if !wholeMinutes(zone, from, minutes+margin) {
			r.Skip("offset of odd seconds")
		}
		lead := rapid.IntRange(0, 200).Draw(r, "lead")
		lag := rapid.IntRange(0, 200).Draw(r, "lag")
		gap := rapid.IntRange(0, 1500).Draw(r, "gap")
		inner := Union(genPlan(r, zoneName, from).sources(t)...)
		plain := New(inner)
		active := make([]bool, margin+minutes+margin)
		for i := range active {
			active[i] = plain.Active(from.Add(time.Duration(i-margin) * time.Minute))
		}
		want := bridgeMinutes(extendMinutes(active, lead, lag), gap)[margin:]
		s := New(Bridge(Extend(inner, time.Duration(lead)*time.Minute, time.Duration(lag)*time.Minute), time.Duration(gap)*time.Minute))
		for i := range minutes {
			at := from.Add(time.Duration(i) * time.Minute)
			if got := s.Active(at); got != want[i] {
				r.Fatalf("%s: active is %t, the scan says %t", at.Format(time.RFC3339), got, want[i])
			}
			if i%11 != 0 {
				continue
			}
			next, ok := s.NextChange(at)
			for j := i + 1; j < minutes; j++ {
				if want[j] != want[i] {
					if wantNext := from.Add(time.Duration(j) * time.Minute); !next.Equal(wantNext) {
						r.Fatalf("%s: next change %s (%t), the scan says %s", at.Format(time.RFC3339), next, ok, wantNext)
					}
					break
				}
			}
		}
	})
}

func extendMinutes(active []bool, lead, lag int) []bool {
	extended := make([]bool, len(active))
	for i := range active {
		for j := max(i-lag, 0); j <= min(i+lead, len(active)-1) && !extended[i]; j++ {
			extended[i] = active[j]
		}
	}
	return extended
}

func bridgeMinutes(active []bool, shortest int) []bool {
	bridged := make([]bool, len(active))
	last := -1 << 30
	for i := range active {
		if !active[i] {
			continue
		}
		bridged[i] = true
		if gap := i - last - 1; gap > 0 && gap < shortest {
			for j := last + 1; j < i; j++ {
				bridged[j] = true
			}
		}
		last = i
	}
	return bridged
}

// Each of these has boundaries for ever, and no change.
func TestAScheduleThatNeverChangesIsKnownToNeverChange(t *testing.T) {
	allHours := Hours(1<<24 - 1)
	newYork, apia, india := mustZone(t, "America/New_York"), mustZone(t, "Pacific/Apia"), mustZone(t, "Asia/Kolkata")
	night := NewWeekly(everyDay.On([]Session{{21 * 60, 33 * 60}}), nil)
	day := NewWeekly(everyDay.On(Hours(1<<21-1).Sessions()), nil)
	tests := map[string]struct {
		sources []Source
		active  bool
	}{
		"nothing":                          {nil, false},
		"no hours":                         {[]Source{WallClock(newYork, NewWeekly(everyDay.On(nil), nil))}, false},
		"no days":                          {[]Source{WallClock(newYork, NewWeekly(Days(0).On(allHours.Sessions()), nil))}, false},
		"every hour of every day":          {[]Source{WallClock(newYork, NewWeekly(everyDay.On(allHours.Sessions()), nil))}, true},
		"00:00 to 24:00 every day":         {[]Source{Sessions(newYork, NewWeekly(everyDay.On([]Session{{0, 1440}}), nil))}, true},
		"where a date was left out":        {[]Source{Sessions(apia, NewWeekly(everyDay.On([]Session{{0, 1440}}), nil))}, true},
		"every hour where one was":         {[]Source{WallClock(apia, NewWeekly(everyDay.On(allHours.Sessions()), nil))}, true},
		"nights and days that overlap":     {[]Source{Sessions(newYork, night), WallClock(newYork, day)}, true},
		"the same without daylight saving": {[]Source{Sessions(india, night), WallClock(india, day)}, true},
		"gaps that are all bridged":        {[]Source{Bridge(Sessions(newYork, NewWeekly(everyDay.On([]Session{{0, 1380}}), nil)), 3*time.Hour)}, true},
		"gaps that lead and lag close":     {[]Source{Extend(WallClock(newYork, NewWeekly(everyDay.On(Hours(1<<23-1).Sessions()), nil)), time.Hour, time.Hour)}, true},
		"a single interval long past":      {[]Source{Once(Interval{instantOf(t, "1999-01-01T00:00:00Z"), instantOf(t, "1999-01-02T00:00:00Z")})}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(test.sources...)
			for _, at := range []string{"2026-06-15T09:00:00Z", "2012-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "2099-01-01T00:00:00Z"} {
				if got := s.Active(instantOf(t, at)); got != test.active {
					t.Errorf("active is %t at %s", got, at)
				}
				if next, ok := s.NextChange(instantOf(t, at)); ok {
					t.Errorf("next change after %s is %s", at, next)
				}
			}
		})
	}
}

// A change that is rare or far away is found all the same.
func TestAChangeFarAwayIsFound(t *testing.T) {
	newYork := mustZone(t, "America/New_York")
	// The gap of 01:30 to 02:30 is two hours long on the night the clock goes
	// back, and half an hour on the night it goes forward.
	sessions := Sessions(newYork, NewWeekly(everyDay.On([]Session{{0, 90}, {150, 1440}}), nil))
	holidays := map[Date][]Session{}
	for d := NewDate(2026, 1, 1); len(holidays) < 3000; d += 7 {
		holidays[d] = nil // 57 years of Thursdays
	}
	tests := map[string]struct {
		source Source
		from   string
		want   string
	}{
		"a gap too long once a year": {Bridge(sessions, 90*time.Minute), "2026-01-01T00:00:00Z", "2026-11-01T05:30:00Z"},
		"one date, 8000 years on":    {Sessions(newYork, NewWeekly(Week{}, map[Date][]Session{NewDate(9998, 7, 1): {{540, 600}}})), "1970-01-01T00:00:00Z", "9998-07-01T13:00:00Z"},
		"one holiday of a 24x7":      {Sessions(newYork, NewWeekly(everyDay.On([]Session{{0, 1440}}), map[Date][]Session{NewDate(2500, 1, 1): nil})), "1970-01-01T00:00:00Z", "2500-01-01T05:00:00Z"},
		"the weekday is a holiday for 57 years": {
			Sessions(newYork, NewWeekly(Days(0).With(time.Thursday).On([]Session{{540, 600}}), holidays)),
			"2026-01-01T00:00:00Z", "2083-07-01T13:00:00Z",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := New(test.source).NextChange(instantOf(t, test.from))
			if !ok || !got.Equal(instantOf(t, test.want)) {
				t.Errorf("next change after %s is %s (%t), want %s", test.from, got.Format(time.RFC3339), ok, test.want)
			}
		})
	}
}

func TestBoundariesAreHalfOpenAndExactToTheNanosecond(t *testing.T) {
	s := New(Sessions(mustZone(t, "America/New_York"), NewWeekly(Days(127).On([]Session{{570, 960}}), nil)))
	tests := []struct {
		at     string
		active bool
		next   string
	}{
		{"2026-06-15T13:29:59.999999999Z", false, "2026-06-15T13:30:00Z"},
		{"2026-06-15T13:30:00Z", true, "2026-06-15T20:00:00Z"},
		{"2026-06-15T19:59:59.999999999Z", true, "2026-06-15T20:00:00Z"},
		{"2026-06-15T20:00:00Z", false, "2026-06-16T13:30:00Z"},
	}
	for _, test := range tests {
		at := instantOf(t, test.at)
		next, ok := s.NextChange(at)
		if s.Active(at) != test.active || !ok || !next.Equal(instantOf(t, test.next)) {
			t.Errorf("%s: active %t, next %s (%t); want %t, %s", test.at, s.Active(at), next, ok, test.active, test.next)
		}
	}
}

func TestExtremeInstantsNeitherLoopNorPanic(t *testing.T) {
	for _, name := range strangeZones {
		zone := mustZone(t, name)
		week := Days(127).On([]Session{{22 * 60, 30 * 60}})
		s := New(WallClock(zone, NewWeekly(Days(3).On(Hours(7).Sessions()), nil)), Sessions(zone, NewWeekly(week, nil)))
		for _, at := range []time.Time{
			{},
			time.Unix(1<<62, 0), time.Unix(-1<<62, 0), time.Unix(farthest, 0), time.Unix(farthest-1, 0), time.Unix(-farthest, 0),
			time.Unix(beginning, 0), time.Unix(forever, 0), time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC),
		} {
			s.Active(at)
			if next, ok := s.NextChange(at); ok && !next.After(at) && at.Unix() > -farthest {
				t.Errorf("%s: next change after %s is %s", name, at, next)
			}
		}
	}
}

func TestAnswersAllocateNothing(t *testing.T) {
	zone := mustZone(t, "America/New_York")
	holidays := map[Date][]Session{}
	for d := NewDate(2026, 1, 1); d < NewDate(2027, 1, 2); d++ {
		holidays[d] = nil
	}
	s := New(
		WallClock(zone, NewWeekly(Days(62).On(Hours(0x1ff00).Sessions()), nil)),
		Bridge(Extend(Sessions(zone, NewWeekly(Days(62).On([]Session{{570, 690}, {720, 960}}), holidays)), time.Minute, time.Minute), time.Hour),
		Once(Interval{instantOf(t, "2026-01-01T00:00:00Z"), instantOf(t, "2026-01-02T00:00:00Z")}),
	)
	at := instantOf(t, "2026-03-07T12:00:00Z")
	if n := testing.AllocsPerRun(100, func() { s.Active(at); s.NextChange(at) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

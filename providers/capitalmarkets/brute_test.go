// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
)

// TestSpecsAgreeWithAListOfTheirSessions writes down the sessions of a random spec
// one by one, extends and joins them, and compares instants with the plan.
func TestSpecsAgreeWithAListOfTheirSessions(t *testing.T) {
	monday := schedule.NewDate(2026, time.March, 2) // clocks change on 8 and 29 March
	rapid.Check(t, func(t *rapid.T) {
		zone, err := schedule.LoadZone(rapid.SampledFrom([]string{
			"UTC", "America/New_York", "Europe/London", "Asia/Kathmandu", "Pacific/Chatham", "Africa/Casablanca",
		}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		m := drawModel(t, zone, monday)
		plan, err := NewPlan(&m.spec)
		if err != nil {
			t.Fatalf("%+v: %v", m.spec, err)
		}
		list := m.intervals(monday-10, monday+50)
		at := zone.Instant(monday, rapid.IntRange(0, 40*minutesPerDay).Draw(t, "minute")).
			Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "nanosecond")))
		if got, want := plan.At(at).Active, covers(list, at); got != want {
			t.Fatalf("%+v\nat %s: active %v, want %v", m.spec, at, got, want)
		}
		if want := nextIn(list, at); want.Before(zone.Instant(monday+45, 0)) && !plan.At(at).Until.Equal(want) {
			t.Fatalf("%+v\nafter %s: %s, want %s", m.spec, at, plan.At(at).Until, want)
		}
	})
}

// model is a spec in parts that can be read without the code under test.
type model struct {
	zone     *schedule.Zone
	spec     v1alpha1.CapitalMarketsScheduleSpec
	sessions []struct{ weekday, open, closing int }
	special  []struct {
		date          schedule.Date
		open, closing int
	}
	closed        map[schedule.Date]bool
	early, late   map[schedule.Date]int
	lead, lag     time.Duration
	shortestPause time.Duration
}

func drawModel(t *rapid.T, zone *schedule.Zone, monday schedule.Date) *model {
	m := &model{zone: zone, closed: map[schedule.Date]bool{}, early: map[schedule.Date]int{}, late: map[schedule.Date]int{}}
	name := zone.Name()
	m.spec.Timezone = &name
	minute := rapid.IntRange(0, minutesPerDay-1)
	date := rapid.Custom(func(t *rapid.T) schedule.Date { return monday + schedule.Date(rapid.IntRange(0, 45).Draw(t, "day")) })
	for range rapid.IntRange(0, 4).Draw(t, "sessions") {
		m.drawSession(t, minute)
	}
	for _, d := range rapid.SliceOfN(date, 0, 5).Draw(t, "holidays") {
		m.closed[d] = true
		m.spec.Holidays = append(m.spec.Holidays, d.String())
	}
	for _, d := range rapid.SliceOfN(date, 0, 8).Draw(t, "earlyCloses") {
		at := minute.Draw(t, "close")
		if was, ok := m.early[d]; !ok || at < was {
			m.early[d] = at
		}
		m.spec.EarlyCloses = append(m.spec.EarlyCloses, v1alpha1.EarlyClose{Date: d.String(), Close: hhmm(at)})
	}
	for _, d := range rapid.SliceOfN(date, 0, 8).Draw(t, "lateOpens") {
		at := minute.Draw(t, "open")
		if was, ok := m.late[d]; !ok || at > was {
			m.late[d] = at
		}
		m.spec.LateOpens = append(m.spec.LateOpens, v1alpha1.LateOpen{Date: d.String(), Open: hhmm(at)})
	}
	for _, d := range rapid.SliceOfN(date, 0, 3).Draw(t, "special") {
		open, closing := minute.Draw(t, "open"), minute.Draw(t, "close")
		if open == closing {
			continue
		}
		m.spec.SpecialSessions = append(m.spec.SpecialSessions, v1alpha1.SpecialSession{Date: d.String(), Open: hhmm(open), Close: hhmm(closing)})
		if closing < open {
			closing += minutesPerDay
		}
		m.special = append(m.special, struct {
			date          schedule.Date
			open, closing int
		}{d, open, closing})
	}
	margin := rapid.IntRange(0, 200)
	m.lead, m.spec.LeadTime = drawMargin(t, margin, "lead")
	m.lag, m.spec.LagTime = drawMargin(t, margin, "lag")
	m.shortestPause, m.spec.BridgeGaps = drawMargin(t, rapid.IntRange(0, 1000), "bridge")
	return m
}

func (m *model) drawSession(t *rapid.T, minute *rapid.Generator[int]) {
	weekday := rapid.IntRange(0, 6).Draw(t, "weekday")
	open, closing := minute.Draw(t, "open"), minute.Draw(t, "close")
	session := v1alpha1.TradingSession{DaysOfWeek: []string{weekdayNames[weekday]}, Open: hhmm(open), Close: hhmm(closing)}
	switch eve := rapid.Bool().Draw(t, "evening before"); {
	case eve && closing <= open:
		offset := int32(-1)
		session.OpenDayOffset = &offset
		open -= minutesPerDay
	case open == closing:
		return
	case closing < open:
		closing += minutesPerDay
	}
	m.sessions = append(m.sessions, struct{ weekday, open, closing int }{weekday, open, closing})
	m.spec.Sessions = append(m.spec.Sessions, session)
}

var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func drawMargin(t *rapid.T, minutes *rapid.Generator[int], label string) (time.Duration, v1alpha1.SessionMargin) {
	n := minutes.Draw(t, label)
	return time.Duration(n) * time.Minute, v1alpha1.SessionMargin(fmt.Sprintf("%dm", n))
}

func hhmm(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// intervals lists what the model comes to, in order, joined where it touches.
func (m *model) intervals(from, until schedule.Date) []schedule.Interval {
	var list []schedule.Interval
	add := func(d schedule.Date, open, closing int) {
		i := schedule.Interval{Start: m.zone.Instant(d, open), End: m.zone.Instant(d, closing)}
		if i.Start.Before(i.End) {
			list = append(list, schedule.Interval{Start: i.Start.Add(-m.lead), End: i.End.Add(m.lag)})
		}
	}
	for d := from; d < until; d++ {
		for _, s := range m.sessions {
			if int(d.Weekday()) != s.weekday || m.closed[d] {
				continue
			}
			open, closing := s.open, s.closing
			if at, ok := m.late[d]; ok {
				open = max(open, at)
			}
			if at, ok := m.early[d]; ok {
				closing = min(closing, at)
			}
			if open < closing {
				add(d, open, closing)
			}
		}
	}
	for _, s := range m.special {
		add(s.date, s.open, s.closing)
	}
	slices.SortFunc(list, func(a, b schedule.Interval) int { return a.Start.Compare(b.Start) })
	return joined(list, m.shortestPause)
}

// joined joins intervals that overlap, that touch, or that have a pause between
// them which is shorter than shortest.
func joined(list []schedule.Interval, shortest time.Duration) []schedule.Interval {
	var out []schedule.Interval
	for _, i := range list {
		if n := len(out); n > 0 && (!i.Start.After(out[n-1].End) || i.Start.Sub(out[n-1].End) < shortest) {
			if i.End.After(out[n-1].End) {
				out[n-1].End = i.End
			}
			continue
		}
		out = append(out, i)
	}
	return out
}

func covers(list []schedule.Interval, at time.Time) bool {
	return slices.ContainsFunc(list, func(i schedule.Interval) bool { return !at.Before(i.Start) && at.Before(i.End) })
}

// nextIn returns the first boundary after an instant; far away where there is none.
func nextIn(list []schedule.Interval, at time.Time) time.Time {
	for _, i := range list {
		if i.Start.After(at) {
			return i.Start
		}
		if i.End.After(at) {
			return i.End
		}
	}
	return time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
}

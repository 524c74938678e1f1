// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"strings"
	"testing"
	"time"

	"github.com/fivespot/fivespot/calendar"
)

// within says by the calendar alone whether an instant is in a session.
func within(p *Plan, date calendar.Date, open, closing calendar.Minute, breaks []calendar.Break, at time.Time) bool {
	instant := func(m calendar.Minute) time.Time { return p.exchangeZone.Instant(fromCalendar(date), int(m)) }
	in := func(from, until calendar.Minute) bool { return !at.Before(instant(from)) && at.Before(instant(until)) }
	for _, b := range breaks {
		if in(b.Start, b.End) {
			return false
		}
	}
	return in(open, closing)
}

func benchmark(b *testing.B, spec string, ask func(*Plan, time.Time)) {
	b.Helper()
	plan := mustPlan(b, spec)
	at := instant(b, "2026-11-26T15:00:00Z")
	ask(plan, at)
	b.ReportAllocs()
	for b.Loop() {
		ask(plan, at)
	}
}

func active(p *Plan, at time.Time)     { p.Schedule().Active(at) }
func nextChange(p *Plan, at time.Time) { p.Schedule().NextChange(at) }

func BenchmarkActiveXNYS(b *testing.B)     { benchmark(b, `{exchange: XNYS}`, active) }
func BenchmarkNextChangeXNYS(b *testing.B) { benchmark(b, `{exchange: XNYS}`, nextChange) }

func BenchmarkActive366Holidays(b *testing.B)     { benchmark(b, holidays366(), active) }
func BenchmarkNextChange366Holidays(b *testing.B) { benchmark(b, holidays366(), nextChange) }

// BenchmarkNextChangeXNYSAgainstHourSteps finds the same change exactly and, as
// others do, hour by hour; steps/ours is how many times as long that takes.
func BenchmarkNextChangeXNYSAgainstHourSteps(b *testing.B) {
	const runs = 20_000
	plan, at := mustPlan(b, `{exchange: XNYS}`), instant(b, "2026-11-26T15:00:00Z")
	start := time.Now() //nolint:forbidigo // A benchmark is what a stopwatch is for.
	for range runs {
		hourSteps(plan, at)
	}
	steps := float64(time.Since(start).Nanoseconds()) / runs //nolint:forbidigo // As above.
	b.ReportAllocs()
	for b.Loop() {
		nextChange(plan, at)
	}
	b.ReportMetric(steps, "steps-ns/op")
	b.ReportMetric(steps/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "steps/ours")
}

func hourSteps(p *Plan, at time.Time) {
	was := p.Schedule().Active(at)
	for at = at.Truncate(time.Hour).Add(time.Hour); p.Schedule().Active(at) == was; at = at.Add(time.Hour) {
	}
}

// BenchmarkPlanXNYS shows what one object costs in memory, B/op.
func BenchmarkPlanXNYS(b *testing.B) {
	spec := parse(b, `{exchange: XNYS, leadTime: 30m}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewPlan(spec); err != nil {
			b.Fatal(err)
		}
	}
}

// holidays366 is an exchange with every day of a year closed by the spec: the next
// opening is a year away.
func holidays366() string {
	var list []string
	for d := calendar.NewDate(2026, time.November, 26); d.Before(calendar.NewDate(2027, time.November, 27)); d = d.AddDays(1) {
		list = append(list, `"`+d.String()+`"`)
	}
	return `{exchange: XNYS, holidays: [` + strings.Join(list, ",") + `]}`
}

func TestAskingAllocatesNothing(t *testing.T) {
	for _, spec := range []string{`{exchange: XNYS}`, `{exchange: XTKS, leadTime: 30m, bridgeGaps: 2h}`, holidays366()} {
		plan := mustPlan(t, spec)
		at := instant(t, "2026-11-26T15:00:00Z")
		nextChange(plan, at)
		if n := testing.AllocsPerRun(10, func() { active(plan, at); nextChange(plan, at) }); n != 0 {
			t.Errorf("%.40s: %v allocations, want 0", spec, n)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"runtime"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// A benchmark ends with its ratio to another way of finding the same, measured
// in the same run: the time of the other over ours.

func office(t testing.TB) *Schedule {
	zone := mustZone(t, "America/New_York")
	return New(Sessions(zone, NewWeekly(Days(62).On([]Session{{9 * 60, 17 * 60}}), nil)))
}

// withHolidays has minute sessions and 366 dates without one, as many as a
// CapitalMarketsSchedule may list.
func withHolidays(t testing.TB) *Schedule {
	zone := mustZone(t, "America/New_York")
	holidays := map[Date][]Session{}
	for d := NewDate(2026, 1, 1); len(holidays) < 366; d += 5 {
		holidays[d] = nil
	}
	return New(Sessions(zone, NewWeekly(Days(62).On([]Session{{570, 960}}), holidays)))
}

// instants are spread over years, so that no answer can be remembered.
func instants() []time.Time {
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	list := make([]time.Time, 1024)
	for i := range list {
		list[i] = first.Add(time.Duration(i)*73*time.Hour + time.Duration(i*7919%86400)*time.Second)
	}
	return list
}

func BenchmarkActive(b *testing.B) {
	at := instants()
	for name, s := range map[string]*Schedule{"week window": office(b), "366 holidays": withHolidays(b)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Active(at[i%len(at)])
			}
		})
	}
}

func BenchmarkNextChange(b *testing.B) {
	at := instants()
	for name, s := range map[string]*Schedule{"week window": office(b), "366 holidays": withHolidays(b)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.NextChange(at[i%len(at)])
			}
		})
	}
}

// A cron expression gives openings only; two of them, asked each time, say what
// one window does.
func BenchmarkNextChangeAgainstCron(b *testing.B) {
	at, s := instants(), office(b)
	open, err := cron.ParseStandard("CRON_TZ=America/New_York 0 9 * * 1-5")
	if err != nil {
		b.Fatal(err)
	}
	shut, err := cron.ParseStandard("CRON_TZ=America/New_York 0 17 * * 1-5")
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	compare(b, "cron", func() { s.NextChange(at[i%len(at)]); i++ }, func() {
		open.Next(at[i%len(at)])
		shut.Next(at[i%len(at)])
		i++
	})
}

// The search that the Rust project does: hour by hour, up to 192 of them.
func BenchmarkNextChangeAgainstHourSteps(b *testing.B) {
	at, s := instants(), withHolidays(b)
	i := 0
	compare(b, "steps", func() { s.NextChange(at[i%len(at)]); i++ }, func() {
		hourSteps(s, at[i%len(at)])
		i++
	})
}

func hourSteps(s *Schedule, t time.Time) (time.Time, bool) {
	now := s.Active(t)
	t = t.Truncate(time.Hour)
	for range 192 {
		t = t.Add(time.Hour)
		if s.Active(t) != now {
			return t, true
		}
	}
	return time.Time{}, false
}

// compare measures ours as the benchmark and reports what the other takes.
func compare(b *testing.B, name string, ours, theirs func()) {
	b.Helper()
	const runs = 20_000
	allocations := testing.AllocsPerRun(runs/10, theirs)
	start := time.Now() //nolint:forbidigo // A benchmark is what a stopwatch is for.
	for range runs {
		theirs()
	}
	theirNs := float64(time.Since(start).Nanoseconds()) //nolint:forbidigo // As above.
	theirNs /= runs

	b.ReportAllocs()
	for b.Loop() {
		ours()
	}
	b.ReportMetric(theirNs, name+"-ns/op")
	b.ReportMetric(allocations, name+"-allocs/op")
	b.ReportMetric(theirNs/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), name+"/ours")
}

// The first answer of a schedule that never changes costs a walk through 400
// years where daylight saving makes each of them its own; later ones are free.
func BenchmarkNextChangeOfWhatNeverChanges(b *testing.B) {
	zone := mustZone(b, "America/New_York")
	sources := []Source{
		Sessions(zone, NewWeekly(Days(127).On([]Session{{21 * 60, 33 * 60}}), nil)),
		Sessions(zone, NewWeekly(Days(127).On([]Session{{0, 21 * 60}}), nil)),
	}
	at := instants()[0]
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			New(sources...).NextChange(at)
		}
	})
	b.Run("later", func(b *testing.B) {
		s := New(sources...)
		for b.Loop() {
			s.NextChange(at)
		}
	})
}

func BenchmarkMemoryOf10000Schedules(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := make([]*Schedule, 10_000)
		for i := range list {
			list[i] = office(b)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB")
		runtime.KeepAlive(list)
	}
}

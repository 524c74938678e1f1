// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"time"
)

// Source is a set of instants: the times at which something is active. It is
// made by [Sessions], [WallClock], [Once], [Extend], [Bridge] and [Union], and
// put to use by [New].
type Source interface {
	// first returns, of the intervals that end after an instant, the one that
	// opens first; opening at forever when there is none. It may be a part of a
	// longer stretch; the rest is then returned for the instant of its close.
	first(at int64) interval

	// regularUntil returns an instant up to which, from at on, nothing but the
	// weekly pattern matters: no change of offset, no date of its own.
	regularUntil(at int64) int64

	// reach returns by how many seconds what happens at one instant may depend
	// on what is true at another.
	reach() int64

	// settled returns from when on the source repeats itself; from forever when
	// that is not known.
	settled() period
}

type interval struct{ open, close int64 }

var never = interval{forever, forever}

// Interval is a stretch of time: active at Start, no longer at End.
type Interval struct {
	Start, End time.Time
}

// Sessions returns the source in which each session is open from the first
// instant at which the wall clock of the zone is at or past its opening until
// the first at which it is at or past its close. A date that the zone never had
// has no sessions.
func Sessions(zone *Zone, dates Dates) Source {
	if len(zone.skipped) == 0 && coversAllTime(dates) {
		return always{}
	}
	before, after := dates.Reach()
	return &sessions{zone: zone, dates: dates, before: int64(before) * secondsPerDay, after: Date(after)}
}

type sessions struct {
	zone   *Zone
	dates  Dates
	before int64 // seconds by which a session may open before its date
	after  Date  // days by which it may close after its date
}

func (s *sessions) first(at int64) interval {
	high := s.zone.high(at)
	for {
		local := s.firstLocal(high)
		if local == never {
			return never
		}
		found := interval{s.zone.instant(local.open), s.zone.instant(local.close)}
		if found.open < found.close {
			return found
		}
		high = local.close // The whole session lies in a gap of the wall clock.
	}
}

// firstLocal is first on the reading of the wall clock.
func (s *sessions) firstLocal(high int64) interval {
	found := never
	for d, ok := s.dates.Next(dateOfLocal(high) - s.after); ok && d < MaxDate; d, ok = s.dates.Next(d + 1) {
		if d.local()-s.before > found.open {
			break
		}
		if !s.zone.Exists(d) {
			continue
		}
		for _, session := range s.dates.Sessions(d) {
			open := d.local() + int64(session.Open)*secondsPerMinute
			shut := d.local() + int64(session.Close)*secondsPerMinute
			if shut > high && shut > open && open < found.open {
				found = interval{open, shut}
			}
		}
	}
	return found
}

func (s *sessions) regularUntil(at int64) int64 {
	return regularUntil(s.zone, s.dates, at)
}

func (s *sessions) reach() int64 { return s.before + int64(s.after+2)*secondsPerDay }

func (s *sessions) settled() period { return settled(s.zone, s.dates) }

// WallClock returns the source that is active at each instant at which the wall
// clock of the zone shows a time within a session of the date that it shows. So
// an hour that is repeated counts twice, and one that is skipped not at all.
// What a session has before 00:00 or after 24:00 of its date is left out.
func WallClock(zone *Zone, dates Dates) Source {
	if coversEveryDate(dates) {
		return always{}
	}
	return &wallClock{zone: zone, dates: dates}
}

type wallClock struct {
	zone  *Zone
	dates Dates
}

func (w *wallClock) first(at int64) interval {
	start := int64(beginning)
	for at < farthest {
		offset, until := w.zone.offset(at), w.zone.offsetUntil(at)
		if found := w.firstLocal(at+offset, until+offset); found != never {
			return interval{max(found.open-offset, start), found.close - offset}
		}
		// The clock may yet go back to a date it has shown, by a day at most.
		if _, ok := w.dates.Next(dateOfLocal(until+offset) - 2); !ok {
			return never
		}
		at, start = until, until
	}
	return never
}

// firstLocal returns the first session with a part at or after from and before
// until, cut to before until.
func (w *wallClock) firstLocal(from, until int64) interval {
	for d, ok := w.dates.Next(dateOfLocal(from)); ok && d < MaxDate && d.local() < until; d, ok = w.dates.Next(d + 1) {
		found := never
		for _, session := range w.dates.Sessions(d) {
			open := d.local() + int64(max(session.Open, 0))*secondsPerMinute
			shut := min(d.local()+int64(min(session.Close, minutesPerDay))*secondsPerMinute, until)
			if shut > from && shut > open && open < found.open {
				found = interval{open, shut}
			}
		}
		if found != never {
			return found
		}
	}
	return never
}

func (w *wallClock) regularUntil(at int64) int64 { return regularUntil(w.zone, w.dates, at) }

func (w *wallClock) reach() int64 { return 2 * secondsPerDay }

func (w *wallClock) settled() period { return settled(w.zone, w.dates) }

func regularUntil(zone *Zone, dates Dates, at int64) int64 {
	until := zone.offsetUntil(at)
	if d := dates.RegularUntil(dateOfLocal(zone.high(at))); d < MaxDate {
		until = min(until, max(zone.instant(d.local()), at))
	}
	return until
}

func settled(zone *Zone, dates Dates) period {
	settled := zone.settled
	d, ok := dates.Settled()
	if !ok {
		return period{from: forever, length: gregorianCycle}
	}
	settled.from = max(settled.from, zone.instant(d.local()))
	return settled
}

// always is active at every instant.
type always struct{}

func (always) first(int64) interval     { return interval{beginning, forever} }
func (always) regularUntil(int64) int64 { return forever }
func (always) reach() int64             { return 0 }
func (always) settled() period          { return period{from: beginning} }

// Once returns the source that is active in each of the intervals and at no
// other time. Fractions of a second are cut off. An interval that does not end
// after it starts is left out.
func Once(intervals ...Interval) Source {
	var list once
	for _, i := range intervals {
		if open, shut := clamp(i.Start), clamp(i.End); open < shut {
			list = append(list, interval{open, shut})
		}
	}
	slices.SortFunc(list, func(a, b interval) int {
		if a.open < b.open {
			return -1
		}
		return 1
	})
	return list.merged()
}

type once []interval

func (o once) merged() once {
	var kept once
	for _, i := range o {
		if n := len(kept); n > 0 && i.open <= kept[n-1].close {
			kept[n-1].close = max(kept[n-1].close, i.close)
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

func (o once) first(at int64) interval {
	for _, i := range o {
		if i.close > at {
			return i
		}
	}
	return never
}

func (o once) regularUntil(at int64) int64 {
	for _, i := range o {
		if i.open > at {
			return i.open
		}
		if i.close > at {
			return i.close
		}
	}
	return forever
}

func (o once) reach() int64 { return 0 }

func (o once) settled() period {
	if len(o) == 0 {
		return period{from: beginning}
	}
	return period{from: o[len(o)-1].close}
}

// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync/atomic"
	"time"
)

// Schedule answers for a [Source] whether it is active at an instant and when
// that next changes. It is safe for use by many goroutines, and once made it
// allocates nothing.
//
// Instants more than 30,000 years from 1970 are taken as that far away.
type Schedule struct {
	source Source
	// quiet is the earliest instant from which it is known that nothing ever
	// changes again; forever while none is known.
	quiet atomic.Int64
}

// New returns the schedule of the union of sources; never active, given none.
func New(sources ...Source) *Schedule {
	s := &Schedule{source: Union(sources...)}
	s.quiet.Store(forever)
	return s
}

// Active reports whether the schedule is active at an instant.
func (s *Schedule) Active(t time.Time) bool {
	at := clamp(t)
	return s.source.first(at).open <= at
}

// NextChange returns the first instant after t at which Active answers otherwise
// than at t, in UTC. It returns false when there is none, however far ahead one
// looks.
//
// That last answer is a proof, but for one case: a [Dates] that cannot say from
// when on it repeats itself is taken at its word after 400 years without a
// change.
func (s *Schedule) NextChange(t time.Time) (time.Time, bool) {
	at := s.nextChange(clamp(t))
	if at >= farthest {
		return time.Time{}, false
	}
	return time.Unix(at, 0).UTC(), true
}

// state returns whether the source is active at an instant, and a later one up
// to which it stays so.
func (s *Schedule) state(at int64) (active bool, until int64) {
	next := s.source.first(at)
	if next.open <= at {
		return true, next.close
	}
	return false, next.open
}

// nextChange walks from one boundary of the source to the next until one of
// them is a change. It may have to pass many that are not: an hour that ends
// when another begins. Where nothing but a weekly pattern matters, a week
// without a change is as good as all of them; where only the calendar does, a
// whole period is.
func (s *Schedule) nextChange(from int64) int64 {
	active, at := s.state(from)
	reach := s.source.reach()
	start, regular := from, s.source.regularUntil(from)
	for at < farthest && from < s.quiet.Load() {
		now, until := s.state(at)
		if now != active {
			return at
		}
		switch {
		case at >= regular:
			start, regular = at, s.source.regularUntil(at)
		case at-start >= daysPerWeek*secondsPerDay+2*reach && regular-reach > until:
			until = regular - reach
		}
		if s.repeats(from, at) {
			break
		}
		at = until
	}
	s.noteQuiet(from)
	return forever
}

// repeats reports whether all that the source ever does has been seen between
// two instants.
func (s *Schedule) repeats(from, at int64) bool {
	const week = daysPerWeek * secondsPerDay
	if at < from+2*week {
		return false // Nearly always; spares the questions below.
	}
	settled, reach := s.source.settled(), s.source.reach()
	if settled.from >= forever {
		settled.from = from
	}
	if reach > 3*week {
		settled.length = gregorianCycle // Two changes of a year may meet.
	}
	return at > max(from, settled.from)+settled.length+2*reach+week
}

func (s *Schedule) noteQuiet(from int64) {
	for {
		known := s.quiet.Load()
		if known <= from || s.quiet.CompareAndSwap(known, from) {
			return
		}
	}
}

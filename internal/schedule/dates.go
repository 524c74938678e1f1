// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"time"
)

// Session is a stretch of a day, in minutes after the midnight that begins the
// date it belongs to: 09:30 is 570, 24:00 is 1440, 18:00 on the day before is
// -360. It is open at Open and shut at Close. One whose Close is not after its
// Open is empty.
type Session struct {
	Open, Close int
}

// Dates says which sessions belong to which date. An implementation never
// changes its answers and is safe for use by many goroutines.
type Dates interface {
	// Next returns the first date at or after d that may have a session, and
	// false if none has. It should pass over dates without one: each date that
	// it returns costs a call of Sessions.
	Next(d Date) (Date, bool)

	// Sessions returns the sessions that belong to a date; none for most dates
	// of most calendars. They may overlap and be in any order. The caller does
	// not change the slice.
	Sessions(d Date) []Session

	// Reach returns by how many days a session may begin before its date and
	// how many dates after its own it may touch: 0, 0 where every session lies
	// between 00:00 and 24:00.
	Reach() (before, after int)

	// RegularUntil returns a date up to which, from d on and not including it,
	// sessions depend on nothing but the weekday: MaxDate where that is so for
	// ever, d where nothing is known.
	RegularUntil(d Date) Date

	// Settled returns the first date from which on sessions depend on nothing
	// but the weekday, for ever; false where there is none or it is not known.
	Settled() (Date, bool)
}

// Week holds the sessions of each weekday, indexed by time.Weekday.
type Week [daysPerWeek][]Session

// Weekly is a Dates that repeats a week, but for some dates.
type Weekly struct {
	week      Week
	overrides []override // by date
	before    int
	after     int
	empty     bool // no weekday has a session
}

type override struct {
	date     Date
	sessions []Session
}

// NewWeekly returns the Dates of a week and of dates that have sessions of their
// own in place of their weekday's: none, for a holiday. Both may be nil.
func NewWeekly(week Week, overrides map[Date][]Session) *Weekly {
	w := &Weekly{empty: true}
	for day, sessions := range week {
		w.week[day] = w.take(sessions)
		w.empty = w.empty && len(w.week[day]) == 0
	}
	for date, sessions := range overrides {
		w.overrides = append(w.overrides, override{date, w.take(sessions)})
	}
	slices.SortFunc(w.overrides, func(a, b override) int { return int(a.date) - int(b.date) })
	return w
}

// take returns the sessions that are not empty, merged where they touch, and
// notes how far they reach.
func (w *Weekly) take(sessions []Session) []Session {
	var kept []Session
	for _, s := range sortedByOpen(sessions) {
		if s.Close <= s.Open {
			continue
		}
		w.before = max(w.before, int(-floorDiv(int64(s.Open), minutesPerDay)))
		w.after = max(w.after, int(floorDiv(int64(s.Close)-1, minutesPerDay)))
		if n := len(kept); n > 0 && s.Open <= kept[n-1].Close {
			kept[n-1].Close = max(kept[n-1].Close, s.Close)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

func sortedByOpen(sessions []Session) []Session {
	sorted := slices.Clone(sessions)
	slices.SortFunc(sorted, func(a, b Session) int { return a.Open - b.Open })
	return sorted
}

// Next implements Dates.
func (w *Weekly) Next(d Date) (Date, bool) {
	at := w.overrideFrom(d)
	for ; d < MaxDate; d++ {
		if at < len(w.overrides) && w.overrides[at].date == d {
			if len(w.overrides[at].sessions) > 0 {
				return d, true
			}
			at++
			continue
		}
		if len(w.week[d.Weekday()]) > 0 {
			return d, true
		}
		if w.empty {
			if at == len(w.overrides) {
				return 0, false
			}
			d = w.overrides[at].date - 1
		}
	}
	return 0, false
}

// Sessions implements Dates.
func (w *Weekly) Sessions(d Date) []Session {
	if at := w.overrideFrom(d); at < len(w.overrides) && w.overrides[at].date == d {
		return w.overrides[at].sessions
	}
	return w.week[d.Weekday()]
}

// Reach implements Dates.
func (w *Weekly) Reach() (before, after int) { return w.before, w.after }

// RegularUntil implements Dates.
func (w *Weekly) RegularUntil(d Date) Date {
	if at := w.overrideFrom(d); at < len(w.overrides) {
		return w.overrides[at].date
	}
	return MaxDate
}

// Settled implements Dates.
func (w *Weekly) Settled() (Date, bool) {
	if n := len(w.overrides); n > 0 {
		return w.overrides[n-1].date + 1, true
	}
	return MinDate, true
}

// overrideFrom returns the index of the first override at or after a date.
func (w *Weekly) overrideFrom(d Date) int {
	low, high := 0, len(w.overrides)
	for low < high {
		middle := int(uint(low+high) / 2)
		if w.overrides[middle].date < d {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// coversEveryDate reports whether the sessions of each date by themselves leave
// no minute of it out.
func coversEveryDate(dates Dates) bool {
	return regularForEver(dates) && coversWeek(dates, func(s Session) Session {
		return Session{max(s.Open, 0), min(s.Close, minutesPerDay)}
	})
}

// coversAllTime reports whether the sessions of all dates together leave no
// minute out.
func coversAllTime(dates Dates) bool {
	return regularForEver(dates) && coversWeek(dates, func(s Session) Session { return s })
}

func regularForEver(dates Dates) bool { return dates.RegularUntil(MinDate) >= MaxDate }

// coversWeek reports whether the sessions of a repeating week, cut as told,
// leave no minute of a week out.
func coversWeek(dates Dates, cut func(Session) Session) bool {
	before, after := dates.Reach()
	var all []Session
	for d := Date(-after); d < Date(daysPerWeek+before); d++ {
		for _, s := range dates.Sessions(d) {
			s = cut(s)
			all = append(all, Session{s.Open + int(d)*minutesPerDay, s.Close + int(d)*minutesPerDay})
		}
	}
	until := 0
	for _, s := range sortedByOpen(all) {
		if s.Open > until {
			break
		}
		until = max(until, s.Close)
	}
	return until >= daysPerWeek*minutesPerDay
}

// Days is a set of weekdays.
type Days uint8

// Has reports whether a weekday is in the set.
func (d Days) Has(day time.Weekday) bool { return d>>day&1 == 1 }

// With returns the set with a weekday added.
func (d Days) With(day time.Weekday) Days { return d | 1<<day }

// Hours is a set of hours of the day, 0 to 23.
type Hours uint32

// Has reports whether an hour is in the set.
func (h Hours) Has(hour int) bool { return h>>hour&1 == 1 }

// With returns the set with an hour added.
func (h Hours) With(hour int) Hours { return h | 1<<hour }

// Sessions returns the hours as sessions of a date, one for each run of hours.
func (h Hours) Sessions() []Session {
	var sessions []Session
	for hour := range 24 {
		if !h.Has(hour) {
			continue
		}
		if n := len(sessions); n > 0 && sessions[n-1].Close == hour*60 {
			sessions[n-1].Close += 60
			continue
		}
		sessions = append(sessions, Session{Open: hour * 60, Close: hour*60 + 60})
	}
	return sessions
}

// On returns a week that has the given sessions on each of the days.
func (d Days) On(sessions []Session) Week {
	var week Week
	for day := range time.Weekday(daysPerWeek) {
		if d.Has(day) {
			week[day] = sessions
		}
	}
	return week
}

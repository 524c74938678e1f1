// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"cmp"
	"slices"
	"time"
)

// year holds what happens on each day of one year. The arrays hold an index into
// the slices, plus one; 0 is nothing.
type year struct {
	session, holiday [366]uint16
	sessions         []Session
	holidays         []Holiday
}

// buildYear applies, each over the last, the weekly hours, the holidays, the
// one-off closures, the days with hours of their own, and the extra sessions.
func buildYear(def *definition, published Date, y int) *year {
	closed := closedDays(def, y)
	usual := usualSessions(def, y)
	out := &year{}
	for d := NewDate(y, time.January, 1); d.Year == y; d = d.AddDays(1) {
		session, trades := usual[d]
		holiday, isClosed := closed[d]
		switch {
		case trades && !isClosed:
			out.addSession(withHours(def, session))
			continue
		case trades:
			holiday.Expected = !published.IsZero() && published.Before(d)
			out.addHoliday(holiday)
		}
		if extra, ok := extraOn(def, d); ok {
			out.addSession(extra)
		}
	}
	return out
}

func (y *year) addSession(s Session) {
	y.sessions = append(y.sessions, s)
	y.session[s.Date.yearDay()] = uint16(len(y.sessions)) // at most 366
}

func (y *year) addHoliday(h Holiday) {
	y.holidays = append(y.holidays, h)
	y.holiday[h.Date.yearDay()] = uint16(len(y.holidays)) // at most 366
}

// usualSessions are the sessions of a year as if there were no holidays.
func usualSessions(def *definition, y int) map[Date]Session {
	out := make(map[Date]Session, 366)
	for d := NewDate(y, time.January, 1); d.Year == y; d = d.AddDays(1) {
		if h, ok := usualHours(def, d); ok {
			out[d] = Session{Date: d, Open: h.open, Close: h.close, Breaks: h.breaks}
		}
	}
	return out
}

// usualHours returns the hours of the regime that d belongs to.
func usualHours(def *definition, d Date) (weekHours, bool) {
	for _, r := range slices.Backward(def.regimes) {
		if d.Before(r.from) {
			continue
		}
		for _, h := range r.week {
			if slices.Contains(h.days, d.Weekday()) {
				return h, true
			}
		}
		return weekHours{}, false
	}
	return weekHours{}, false
}

// closedDays are the holidays and closures of a year, whether or not they fall on
// a trading weekday. Of two rules for one date the first names it.
func closedDays(def *definition, y int) map[Date]Holiday {
	out := map[Date]Holiday{}
	for _, c := range def.closures {
		out[c.date] = Holiday{Date: c.date, Name: c.name, Source: c.source}
	}
	add := func(d Date, name string) {
		if _, taken := out[d]; !taken && d.Year == y {
			out[d] = Holiday{Date: d, Name: name}
		}
	}
	for _, r := range def.holidays {
		for _, of := range []int{y - 1, y, y + 1} { // a rule may move its date over the new year
			if d, ok := r.in(of); ok {
				add(d, r.name)
			}
		}
	}
	if def.japanese {
		for _, h := range japaneseHolidays(y) {
			add(h.Date, h.Name)
		}
	}
	return out
}

// withHours returns the session with the hours of its day, where the day has some.
func withHours(def *definition, s Session) Session {
	for _, h := range def.hours {
		d, ok := h.in(s.Date.Year)
		if !ok || d != s.Date {
			continue
		}
		usualOpen, usualClose := s.Open, s.Close
		s.Name = h.name
		s.Open = cmp.Or(h.open, s.Open)
		s.Close = cmp.Or(h.close, s.Close)
		s.Early, s.Late = s.Close < usualClose, s.Open > usualOpen
		s.Breaks = breaksWithin(s.Breaks, s.Open, s.Close)
		return s
	}
	return s
}

// breaksWithin drops the breaks that a late open or an early close swallows.
func breaksWithin(breaks []Break, open, closing Minute) []Break {
	var out []Break
	for _, b := range breaks {
		if open < b.Start && b.End < closing {
			out = append(out, b)
		}
	}
	return out
}

// extraOn returns the extra session of a date that is not an ordinary one.
func extraOn(def *definition, d Date) (Session, bool) {
	for _, x := range def.extra {
		if x.date == d {
			return Session{Date: d, Open: x.open, Close: x.close, Breaks: x.breaks, Name: x.name, Special: true}, true
		}
	}
	return Session{}, false
}

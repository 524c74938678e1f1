// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"slices"
	"time"
)

// rule gives a recurring day its date in each year.
type rule struct {
	name         string
	on           func(year int) Date
	first, last  int // years; 0 is without limit
	exceptYears  []int
	weekendMoves moves
}

// moves says by how many days a date that falls on a weekday is moved.
type moves [7]int

var (
	// sundayToMonday: a Sunday holiday is taken on Monday, a Saturday one is lost.
	sundayToMonday = moves{time.Sunday: +1}
	// toMonday: a holiday at the weekend is taken on Monday.
	toMonday = moves{time.Saturday: +2, time.Sunday: +1}
	// twoDaysOn moves a day out of the weekend over a neighbour that is a holiday
	// too: Christmas on a Sunday is taken on Tuesday, since Monday is Boxing Day.
	twoDaysOn = moves{time.Saturday: +2, time.Sunday: +2}
	// nearest: Saturday is taken on Friday, Sunday on Monday.
	nearest = moves{time.Saturday: -1, time.Sunday: +1}
	// toFriday: the last weekday on or before the date.
	toFriday = moves{time.Saturday: -1, time.Sunday: -2}
)

// fixed is a day that has the same date every year.
func fixed(name string, month time.Month, day int) rule {
	return rule{name: name, on: func(y int) Date { return NewDate(y, month, day) }}
}

// nth is the n-th such weekday of the month; -1 is the last one.
func nth(name string, n int, weekday time.Weekday, month time.Month) rule {
	return rule{name: name, on: func(y int) Date {
		if n < 0 {
			return weekdayOnOrAfter(NewDate(y, month+1, -6), weekday)
		}
		return weekdayOnOrAfter(NewDate(y, month, 1), weekday).AddDays(7 * (n - 1))
	}}
}

// onOrAfter is the first such weekday from a date on.
func onOrAfter(name string, weekday time.Weekday, month time.Month, day int) rule {
	return rule{name: name, on: func(y int) Date {
		return weekdayOnOrAfter(NewDate(y, month, day), weekday)
	}}
}

// easter is a day so many days after Easter Sunday of the Western churches.
func easter(name string, offset int) rule {
	return rule{name: name, on: func(y int) Date { return easterSunday(y).AddDays(offset) }}
}

// moved returns the rule with its weekend dates moved.
func (r rule) moved(m moves) rule { r.weekendMoves = m; return r }

// since returns the rule from a year on.
func (r rule) since(year int) rule { r.first = year; return r }

// through returns the rule up to a year, and in it.
func (r rule) through(year int) rule { r.last = year; return r }

// except returns the rule without some years.
func (r rule) except(years ...int) rule { r.exceptYears = years; return r }

// after returns the rule a number of days later, under another name.
func (r rule) after(days int, name string) rule {
	on := r.on
	r.name, r.on = name, func(y int) Date { return on(y).AddDays(days) }
	return r
}

// in returns the date that the rule gives in a year. It is false where the rule
// gives none.
func (r rule) in(year int) (Date, bool) {
	if (r.first != 0 && year < r.first) || (r.last != 0 && year > r.last) ||
		slices.Contains(r.exceptYears, year) {
		return Date{}, false
	}
	d := r.on(year)
	return d.AddDays(r.weekendMoves[d.Weekday()]), true
}

func weekdayOnOrAfter(d Date, w time.Weekday) Date {
	return d.AddDays((int(w-d.Weekday()) + 7) % 7)
}

// easterSunday is the anonymous Gregorian algorithm (Nature, 20 April 1876).
func easterSunday(y int) Date {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return NewDate(y, time.Month(n/31), n%31+1)
}

// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"math"
	"slices"

	"github.com/fivespot/fivespot/internal/schedule"
)

// day is what a spec says of one date: closed, or sessions that end by one minute
// and begin from another at the earliest.
type day struct {
	closed bool
	close  int // the earliest of the early closes
	open   int // the latest of the late opens
}

// ordinary is a day of which the spec says nothing.
var ordinary = day{close: math.MaxInt, open: math.MinInt}

// apply returns the sessions as the day leaves them.
func (d day) apply(sessions []schedule.Session) []schedule.Session {
	if d.closed {
		return nil
	}
	var left []schedule.Session
	for _, s := range sessions {
		s.Open, s.Close = max(s.Open, d.open), min(s.Close, d.close)
		if s.Open < s.Close {
			left = append(left, s)
		}
	}
	return left
}

// days are the dates of a spec.
type days map[schedule.Date]day

// change changes what the spec says of a date.
func (d days) change(date schedule.Date, change func(*day)) {
	entry, ok := d[date]
	if !ok {
		entry = ordinary
	}
	change(&entry)
	d[date] = entry
}

// weekly returns a week with the days of the spec.
func (d days) weekly(week schedule.Week) *schedule.Weekly {
	overrides := make(map[schedule.Date][]schedule.Session, len(d))
	for date, entry := range d {
		overrides[date] = entry.apply(week[date.Weekday()])
	}
	return schedule.NewWeekly(week, overrides)
}

// overlay is an exchange with the days of a spec.
type overlay struct {
	*exchangeDates
	dates    []schedule.Date // in order
	sessions [][]schedule.Session
}

// overlay returns the sessions of an exchange with the days of the spec. Without
// any it is the exchange itself.
func (d days) overlay(exchange *exchangeDates) schedule.Dates {
	if len(d) == 0 {
		return exchange
	}
	o := &overlay{exchangeDates: exchange}
	for date := range d {
		o.dates = append(o.dates, date)
	}
	slices.Sort(o.dates)
	for _, date := range o.dates {
		o.sessions = append(o.sessions, d[date].apply(exchange.Sessions(date)))
	}
	return o
}

// Next implements schedule.Dates.
func (o *overlay) Next(d schedule.Date) (schedule.Date, bool) {
	for {
		next, ok := o.exchangeDates.Next(d)
		if !ok || len(o.Sessions(next)) > 0 {
			return next, ok
		}
		d = next + 1
	}
}

// Sessions implements schedule.Dates.
func (o *overlay) Sessions(d schedule.Date) []schedule.Session {
	if i, found := slices.BinarySearch(o.dates, d); found {
		return o.sessions[i]
	}
	return o.exchangeDates.Sessions(d)
}

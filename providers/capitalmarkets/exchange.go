// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/schedule"
)

const (
	// The years for which an exchange is asked; calendar knows none beyond them.
	firstYear = 2015
	lastYear  = 2199
)

// exchangeDates are the sessions of an exchange, without what a spec says of
// them. There is one for each exchange, shared by all objects.
type exchangeDates struct {
	exchange *calendar.Exchange
	// end is the date after the last on which there can be a session.
	end   schedule.Date
	years [lastYear - firstYear + 1]atomic.Pointer[exchangeYear]
}

// exchangeYear holds the sessions of each day of a year. A day with a break has
// several.
type exchangeYear [366][]schedule.Session

// allExchangeDates are those that have been asked for.
var allExchangeDates = struct {
	sync.Mutex
	of map[*calendar.Exchange]*exchangeDates
}{of: map[*calendar.Exchange]*exchangeDates{}}

// datesOf returns the sessions of an exchange.
func datesOf(exchange *calendar.Exchange) *exchangeDates {
	allExchangeDates.Lock()
	defer allExchangeDates.Unlock()
	if known, ok := allExchangeDates.of[exchange]; ok {
		return known
	}
	made := &exchangeDates{exchange: exchange, end: schedule.NewDate(lastYear+1, time.January, 1)}
	if until, ok := exchange.KnownUntil(); ok {
		made.end = fromCalendar(until) + 1
	}
	allExchangeDates.of[exchange] = made
	return made
}

// Next implements schedule.Dates.
func (e *exchangeDates) Next(d schedule.Date) (schedule.Date, bool) {
	for d = max(d, fromCalendar(e.exchange.KnownFrom())); d < e.end; d++ {
		if len(e.Sessions(d)) > 0 {
			return d, true
		}
	}
	return 0, false
}

// Sessions implements schedule.Dates.
func (e *exchangeDates) Sessions(d schedule.Date) []schedule.Session {
	if d < newYears[0] || d >= newYears[len(newYears)-1] {
		return nil
	}
	i := int(d-newYears[0]) / 366 // the year, or one of those before
	for newYears[i+1] <= d {
		i++
	}
	days := e.years[i].Load()
	if days == nil {
		days = e.makeYear(firstYear + i)
		e.years[i].Store(days)
	}
	return days[d-newYears[i]]
}

// newYears are the first days of the years, and of the one after the last.
var newYears = func() (first [lastYear - firstYear + 2]schedule.Date) {
	for i := range first {
		first[i] = schedule.NewDate(firstYear+i, time.January, 1)
	}
	return first
}()

func (e *exchangeDates) makeYear(year int) *exchangeYear {
	var days exchangeYear
	day := calendar.NewDate(year, time.January, 1)
	for i := 0; day.Year == year; i++ {
		if session, ok := e.exchange.Session(day); ok {
			days[i] = withoutBreaks(session)
		}
		day = day.AddDays(1)
	}
	return &days
}

// Reach implements schedule.Dates. Futures open on the evening before.
func (e *exchangeDates) Reach() (before, after int) { return 1, 0 }

// RegularUntil implements schedule.Dates: no week of an exchange is known to be
// like the next.
func (e *exchangeDates) RegularUntil(d schedule.Date) schedule.Date {
	if d >= e.end {
		return schedule.MaxDate
	}
	return d
}

// Settled implements schedule.Dates.
func (e *exchangeDates) Settled() (schedule.Date, bool) { return e.end, true }

// withoutBreaks cuts a session at its breaks.
func withoutBreaks(s calendar.Session) []schedule.Session {
	parts := make([]schedule.Session, 0, len(s.Breaks)+1)
	open := s.Open
	for _, b := range s.Breaks {
		parts = append(parts, schedule.Session{Open: int(open), Close: int(b.Start)})
		open = b.End
	}
	return append(parts, schedule.Session{Open: int(open), Close: int(s.Close)})
}

func fromCalendar(d calendar.Date) schedule.Date { return schedule.NewDate(d.Year, d.Month, d.Day) }

func toCalendar(d schedule.Date) calendar.Date { return calendar.NewDate(d.Civil()) }

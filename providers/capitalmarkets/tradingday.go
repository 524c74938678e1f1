// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"time"

	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/schedule"
)

// tradingDay is a day of the exchange as the spec leaves it, seen from one of its
// boundaries.
type tradingDay struct {
	// usual is the session by the exchange's calendar.
	usual calendar.Session
	// close is when the day's trading ends.
	close calendar.Minute
	// first and last say whether the boundary is that of the first part of the
	// day, before the break, and of the last.
	first, last bool
}

// boundary is one end of a session.
type boundary func(schedule.Session) int

func opens(s schedule.Session) int  { return s.Open }
func closes(s schedule.Session) int { return s.Close }

// tradingDay returns the day of the exchange that has a boundary at an instant.
func (p *Plan) tradingDay(at time.Time, of boundary) (tradingDay, bool) {
	if p.exchange == nil {
		return tradingDay{}, false
	}
	today := p.exchangeZone.Date(at)
	for _, date := range []schedule.Date{today - 1, today, today + 1} {
		parts := p.exchangeDates.Sessions(date)
		for i, part := range parts {
			if !p.exchangeZone.Instant(date, of(part)).Equal(at) {
				continue
			}
			usual, ok := p.exchange.Session(toCalendar(date))
			return tradingDay{
				usual: usual, close: calendar.Minute(parts[len(parts)-1].Close),
				first: i == 0, last: i == len(parts)-1,
			}, ok
		}
	}
	return tradingDay{}, false
}

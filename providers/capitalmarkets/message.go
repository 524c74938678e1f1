// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/schedule"
)

// message says what the market does, and when the next change is, for a person
// who trades: "XNYS closed for Thanksgiving; opens 2026-11-27 09:30 EST (closes
// early, 13:00)".
func (p *Plan) message(now time.Time, active bool, next time.Time, changes bool) string {
	inSession := p.market.Active(now)
	turn, turns := p.market.NextChange(now)
	if !p.until.IsZero() && turns && p.until.Before(turn) {
		turns = false
	}
	switch {
	case inSession:
		return p.openMessage(now, turn, turns)
	case active && turns && (!changes || !next.Before(turn)):
		return fmt.Sprintf("%s closed; active ahead of %s", p.name(), p.opening(turn))
	case active && changes:
		return fmt.Sprintf("%s closed%s; active until %s", p.name(), p.why(now), p.clock(next))
	case turns && p.hasMargins && changes && next.Before(turn):
		return fmt.Sprintf("%s closed%s; opens %s, active from %s", p.name(), p.why(now), p.opening(turn), p.clock(next))
	case turns:
		return fmt.Sprintf("%s closed%s; opens %s", p.name(), p.why(now), p.opening(turn))
	case p.until.IsZero():
		return fmt.Sprintf("%s closed%s, and never opens again", p.name(), p.why(now))
	default:
		return fmt.Sprintf("%s closed%s; the calendar ends on %s", p.name(), p.why(now), p.lastDate)
	}
}

func (p *Plan) openMessage(now, turn time.Time, turns bool) string {
	if !turns {
		return p.name() + " open, and never closes"
	}
	return fmt.Sprintf("%s open; closes %s%s", p.name(), p.clock(turn), p.closingNote(now))
}

func (p *Plan) exhaustedMessage() string {
	if p.until.IsZero() {
		return fmt.Sprintf("the calendar of %s begins on %s", p.exchange.MIC, p.exchange.KnownFrom())
	}
	return fmt.Sprintf("the calendar of %s covers %s to %s; a newer version of 5-Spot may know more, "+
		"and sessions can be listed in the spec without an exchange", p.exchange.MIC, p.exchange.KnownFrom(), p.lastDate)
}

// name is what the market is called.
func (p *Plan) name() string {
	if p.exchange == nil {
		return "market"
	}
	return p.exchange.MIC
}

// clock spells an instant in the zone of the spec, without the weekday.
func (p *Plan) clock(t time.Time) string { return p.zone.Format(t)[len("Mon "):] }

// why names what closes the market on the date of an instant: " for Thanksgiving".
// It is empty on an ordinary day.
func (p *Plan) why(now time.Time) string {
	if p.days[p.zone.Date(now)].closed {
		if name := p.holidayName(now); name != "" {
			return " for " + name
		}
		return " for a holiday of the spec"
	}
	if name := p.holidayName(now); name != "" {
		return " for " + name
	}
	if p.inBreak(now) {
		return " for a break"
	}
	return ""
}

// holidayName names the exchange's holiday on the date of an instant.
func (p *Plan) holidayName(now time.Time) string {
	if p.exchange == nil {
		return ""
	}
	name, _ := p.exchange.Closure(toCalendar(p.exchangeZone.Date(now)))
	return name
}

// inBreak reports whether an instant lies between two sessions of one date of the
// exchange.
func (p *Plan) inBreak(now time.Time) bool {
	if p.exchange == nil {
		return false
	}
	date := p.exchangeZone.Date(now)
	sessions := p.exchangeDates.Sessions(date)
	return len(sessions) > 1 &&
		!now.Before(p.exchangeZone.Instant(date, sessions[0].Close)) &&
		now.Before(p.exchangeZone.Instant(date, sessions[len(sessions)-1].Open))
}

// opening spells an opening, and what is unusual about that session.
func (p *Plan) opening(at time.Time) string {
	return p.clock(at) + p.openingNote(at)
}

// openingNote says of a session that opens at an instant in what it is unusual.
func (p *Plan) openingNote(at time.Time) string {
	session, closing, ok := p.exchangeSession(func(date schedule.Date, sessions []schedule.Session) bool {
		return p.exchangeZone.Instant(date, sessions[0].Open).Equal(at)
	}, at)
	switch {
	case !ok:
		return ""
	case session.Special:
		return fmt.Sprintf(" (%s, until %s)", session.Name, closing)
	case closing < session.Close || session.Early:
		return fmt.Sprintf(" (closes early, %s)", closing)
	case session.Late:
		return fmt.Sprintf(" (opens late, %s)", session.Name)
	}
	return ""
}

// closingNote says why the session at an instant closes early, or that it is a
// special one.
func (p *Plan) closingNote(now time.Time) string {
	session, closing, ok := p.exchangeSession(func(date schedule.Date, sessions []schedule.Session) bool {
		return !now.Before(p.exchangeZone.Instant(date, sessions[0].Open)) &&
			now.Before(p.exchangeZone.Instant(date, sessions[len(sessions)-1].Close))
	}, now)
	switch {
	case !ok:
		return ""
	case session.Special:
		return fmt.Sprintf(" (%s)", session.Name)
	case closing < session.Close:
		return " (early)"
	case session.Early:
		return fmt.Sprintf(" (early: %s)", session.Name)
	}
	return ""
}

// exchangeSession returns, of the trading dates around an instant, the first whose
// sessions are the wanted ones, and when it closes by the spec.
func (p *Plan) exchangeSession(wanted func(schedule.Date, []schedule.Session) bool, at time.Time) (calendar.Session, calendar.Minute, bool) {
	if p.exchange == nil {
		return calendar.Session{}, 0, false
	}
	today := p.exchangeZone.Date(at)
	for _, date := range []schedule.Date{today, today + 1} {
		sessions := p.exchangeDates.Sessions(date)
		if len(sessions) == 0 || !wanted(date, sessions) {
			continue
		}
		session, ok := p.exchange.Session(toCalendar(date))
		return session, calendar.Minute(sessions[len(sessions)-1].Close), ok
	}
	return calendar.Session{}, 0, false
}

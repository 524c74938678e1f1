// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fivespot/fivespot/internal/schedule"
)

// A message is true from one change of the schedule to the next and depends on
// nothing else, since it is written once and read at any time between: so it
// follows from the change that comes next, and not from the present instant.

// openMessage is for a stretch that is active until an instant; zero is for ever,
// or as far as the calendar goes.
func (p *Plan) openMessage(until time.Time) string {
	switch {
	case until.IsZero() && p.until.IsZero():
		return p.name() + " open, and never closes"
	case until.IsZero():
		return fmt.Sprintf("active for %s; the calendar ends on %s", p.name(), p.lastDate)
	}
	closing := until.Add(-p.lag)
	closes := p.clock(closing) + p.closingNote(closing)
	switch {
	case p.lag > 0:
		return fmt.Sprintf("active for %s until %s; market closes %s", p.name(), p.clock(until), closes)
	case p.hasMargins:
		return fmt.Sprintf("active for %s until %s", p.name(), closes)
	}
	return fmt.Sprintf("%s open; closes %s", p.name(), closes)
}

// closedMessage is for a stretch that is not active until an instant; zero is for
// ever, or as far as the calendar goes: "XNYS closed for Thanksgiving; opens
// 2026-11-27 09:30 EST (closes early, 13:00)".
func (p *Plan) closedMessage(until time.Time) string {
	switch {
	case until.IsZero() && p.until.IsZero():
		return p.name() + " closed, and never opens again"
	case until.IsZero():
		return fmt.Sprintf("%s closed; the calendar ends on %s", p.name(), p.lastDate)
	}
	opening := until.Add(p.lead)
	message := fmt.Sprintf("%s closed%s; opens %s%s", p.name(), p.why(opening, until), p.clock(opening), p.openingNote(opening))
	if p.lead > 0 {
		message += ", active from " + p.clock(until)
	}
	return message
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

// why names the holidays, or the break, that end with an opening: " for
// Thanksgiving". It is empty where there is nothing but a night, a weekend, or a
// pause since an earlier hour of the same date.
func (p *Plan) why(opening, until time.Time) string {
	if t, ok := p.tradingDay(opening, opens); ok && !t.first {
		return " for a break"
	}
	var names []string
	last := p.sourceZone().Date(opening)
	midnight := p.sourceZone().Instant(last, 0)
	if midnight.Before(until) {
		if change, ok := p.schedule.NextChange(midnight); p.schedule.Active(midnight) || ok && change.Before(until) {
			return ""
		}
	}
	for d := last; d > last-longestClosure && (d == last || !p.hasSession(d)); d-- {
		if name := p.holidayName(d); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return " for " + names[0]
	default:
		return " for " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// longestClosure bounds, in days, how far back a holiday is looked for.
const longestClosure = 31

// sourceZone is the zone whose dates the holidays are looked up by.
func (p *Plan) sourceZone() *schedule.Zone {
	if p.exchange != nil {
		return p.exchangeZone
	}
	return p.zone
}

func (p *Plan) hasSession(d schedule.Date) bool {
	return slices.ContainsFunc(p.dates, func(dates schedule.Dates) bool { return len(dates.Sessions(d)) > 0 })
}

// holidayName names the holiday of a date; empty where there is none.
func (p *Plan) holidayName(d schedule.Date) string {
	if p.exchange != nil {
		if name, ok := p.exchange.Closure(toCalendar(d)); ok {
			return name
		}
	}
	if p.days[d].closed {
		return "a holiday of the spec"
	}
	return ""
}

// openingNote says in what the session that opens at an instant is unusual.
func (p *Plan) openingNote(at time.Time) string {
	t, ok := p.tradingDay(at, opens)
	switch {
	case !ok || !t.first:
		return ""
	case t.usual.Special:
		return fmt.Sprintf(" (%s, until %s)", t.usual.Name, t.close)
	case t.close < t.usual.Close || t.usual.Early:
		return fmt.Sprintf(" (closes early, %s)", t.close)
	case t.usual.Late:
		return fmt.Sprintf(" (opens late, %s)", t.usual.Name)
	}
	return ""
}

// closingNote says why the session that closes at an instant does so early, or
// that it is a special one.
func (p *Plan) closingNote(at time.Time) string {
	t, ok := p.tradingDay(at, closes)
	switch {
	case !ok:
		return ""
	case !t.last:
		return " (break)"
	case t.usual.Special:
		return fmt.Sprintf(" (%s)", t.usual.Name)
	case t.close < t.usual.Close:
		return " (early)"
	case t.usual.Early:
		return fmt.Sprintf(" (early: %s)", t.usual.Name)
	}
	return ""
}

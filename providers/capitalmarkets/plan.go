// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/schedule"
)

// Reasons of the Ready condition.
const (
	// ReasonSessionOpen: the schedule is active.
	ReasonSessionOpen = "SessionOpen"
	// ReasonSessionClosed: the schedule is not active.
	ReasonSessionClosed = "SessionClosed"
	// ReasonCalendarExhausted: the exchange's calendar does not know the date, so
	// nothing is decided.
	ReasonCalendarExhausted = "CalendarExhausted"
)

// Plan is a spec that has been read and found good.
type Plan struct {
	exchange           *calendar.Exchange // nil without one
	exchangeZone, zone *schedule.Zone
	exchangeDates      schedule.Dates // with the days of the spec
	days               days
	dates              []schedule.Dates // of every source
	schedule           *schedule.Schedule
	lead, lag          time.Duration
	hasMargins         bool
	// from and until bound the instants for which the calendar answers; zero is
	// without a bound.
	from, until time.Time
	lastDate    calendar.Date // the last date that the calendar knows
}

// Answer is what a plan says for an instant.
type Answer struct {
	// Exhausted is set where the calendar of the exchange does not know the date.
	// Active then means nothing, and the last verdict is to be kept.
	Exhausted bool
	// Active is whether the schedule is active.
	Active bool
	// Until is when the answer may change next; zero when it never does.
	Until time.Time
	// Reason is one of the Reason constants.
	Reason string
	// Message says the same for people, with the next change in local time.
	Message string
}

// NewPlan reads a spec. The error tells everything that is wrong with it: a tree
// of *schedule.FieldError with paths that begin with "spec.".
func NewPlan(spec *v1alpha1.CapitalMarketsScheduleSpec) (*Plan, error) {
	p, err := readSpec(spec)
	if err != nil {
		return nil, err
	}
	plan := &Plan{
		exchange: p.exchange, exchangeZone: p.exchangeZone, zone: p.zone, days: p.days,
		lead: p.lead, lag: p.lag, hasMargins: p.lead > 0 || p.lag > 0 || p.bridge > 0,
	}
	hours, minutes := p.days.weekly(p.hours), p.days.weekly(p.minutes)
	special := schedule.NewWeekly(schedule.Week{}, p.special)
	plan.dates = []schedule.Dates{hours, minutes, special}
	sources := []schedule.Source{
		schedule.WallClock(p.zone, hours), schedule.Sessions(p.zone, minutes), schedule.Sessions(p.zone, special),
	}
	if p.exchange != nil {
		plan.exchangeDates = p.days.overlay(datesOf(p.exchange))
		plan.dates = append(plan.dates, plan.exchangeDates)
		sources = append(sources, schedule.Sessions(p.exchangeZone, plan.exchangeDates))
		plan.bound()
	}
	market := schedule.Union(sources...)
	plan.schedule = schedule.New(schedule.Bridge(schedule.Extend(market, p.lead, p.lag), p.bridge))
	return plan, nil
}

// bound finds between which instants the calendar answers. A session on the first
// date that it does not know could want its lead before that date.
func (p *Plan) bound() {
	p.from = p.exchangeZone.Instant(fromCalendar(p.exchange.KnownFrom()), 0)
	if last, ok := p.exchange.KnownUntil(); ok {
		p.lastDate = last
		p.until = p.exchangeZone.Instant(fromCalendar(last)+1, 0).Add(-p.lead)
	}
}

// Zone returns the time zone of the spec.
func (p *Plan) Zone() *schedule.Zone { return p.zone }

// Schedule returns when the plan is active. It says nothing of use at the instants
// for which [Plan.Known] is false.
func (p *Plan) Schedule() *schedule.Schedule { return p.schedule }

// Known reports whether the calendar of the exchange knows the date at an instant.
// It is true without an exchange.
func (p *Plan) Known(now time.Time) bool {
	return !now.Before(p.from) && (p.until.IsZero() || now.Before(p.until))
}

// KnownUntil returns the instant from which on [Plan.Known] is false, and the last
// date that the calendar knows. It is false where there is no such instant.
func (p *Plan) KnownUntil() (until time.Time, lastDate calendar.Date, ok bool) {
	return p.until, p.lastDate, !p.until.IsZero()
}

// At returns the answer for an instant.
func (p *Plan) At(now time.Time) Answer {
	if !p.Known(now) {
		return Answer{Exhausted: true, Reason: ReasonCalendarExhausted, Message: p.exhaustedMessage()}
	}
	answer := Answer{Active: p.schedule.Active(now), Reason: ReasonSessionClosed}
	next, changes := p.schedule.NextChange(now)
	if changes && !p.until.IsZero() && p.until.Before(next) {
		next, changes = time.Time{}, false
	}
	if answer.Until = next; !changes {
		answer.Until = p.until
	}
	if answer.Active {
		answer.Reason, answer.Message = ReasonSessionOpen, p.openMessage(next)
	} else {
		answer.Message = p.closedMessage(next)
	}
	return answer
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // an exchange's zone is known on every machine
)

const (
	// firstYear is the first year against which the rules have been checked.
	firstYear = 2015
	// lastYear ends what can be asked for; it is a bound on memory, not a claim.
	lastYear = 2199
)

// Exchange is a trading venue and its calendar. It is safe for concurrent use.
type Exchange struct {
	// MIC is the market identifier code, ISO 10383.
	MIC string
	// Name is what the exchange calls itself.
	Name string
	// Location is the time zone in which its hours are stated.
	Location *time.Location

	load      sync.Once
	def       definition
	published Date
	years     [lastYear - firstYear + 1]atomic.Pointer[year]
}

// newExchange returns the exchange of a definition. A definition is part of this
// package, so a fault in it is a fault of the program: it panics.
func newExchange(def definition) *Exchange {
	loc, err := time.LoadLocation(def.zone)
	if err != nil {
		panic(fmt.Sprintf("calendar: %s: %v", def.mic, err))
	}
	if def.from.IsZero() {
		def.from = NewDate(firstYear, time.January, 1)
	}
	return &Exchange{MIC: def.mic, Name: def.name, Location: loc, def: def}
}

// definition returns the data of e, with its table read.
func (e *Exchange) definition() *definition {
	e.load.Do(func() {
		if e.def.table == "" {
			return
		}
		t, err := readTable(e.def.table)
		if err != nil {
			panic(fmt.Sprintf("calendar: %v", err))
		}
		e.published = t.published
		e.def.from, e.def.until = t.from, t.until
		e.def.closures = append(e.def.closures, t.closures...)
		e.def.extra = append(e.def.extra, t.extra...)
		e.def.hours = append(e.def.hours, t.hours...)
	})
	return &e.def
}

// KnownFrom returns the first date that the calendar speaks about.
func (e *Exchange) KnownFrom() Date { return e.definition().from }

// KnownUntil returns the last date that the calendar speaks about. It is false
// where rules decide, which have no end.
func (e *Exchange) KnownUntil() (Date, bool) {
	until := e.definition().until
	return until, !until.IsZero()
}

// PublishedUntil returns the last date for which the exchange, or the authority
// that it follows, has published its holidays; those after it are marked
// [Holiday.Expected]. It is false where rules decide.
func (e *Exchange) PublishedUntil() (Date, bool) {
	e.definition()
	return e.published, !e.published.IsZero()
}

// Known reports whether the calendar speaks about d. Where it does not, a date
// without a session is not a closed one: nothing is known.
func (e *Exchange) Known(d Date) bool {
	def := e.definition()
	if d.Before(def.from) || d.Year > lastYear {
		return false
	}
	return def.until.IsZero() || !def.until.Before(d)
}

// Session returns the session of a trading date. It is false where there is
// none, and where the date is not [Exchange.Known].
func (e *Exchange) Session(d Date) (Session, bool) {
	if !e.Known(d) {
		return Session{}, false
	}
	y := e.year(d.Year)
	i := y.session[d.yearDay()]
	if i == 0 {
		return Session{}, false
	}
	return y.sessions[i-1], true
}

// Closure returns the name of the holiday that d is. It is false on an ordinary
// session, on a weekday on which the exchange does not trade anyway (most
// weekends), and where the date is not [Exchange.Known]. A holiday may still have
// a special session of an hour: see [Exchange.Session].
func (e *Exchange) Closure(d Date) (string, bool) {
	if !e.Known(d) {
		return "", false
	}
	y := e.year(d.Year)
	i := y.holiday[d.yearDay()]
	if i == 0 {
		return "", false
	}
	return y.holidays[i-1].Name, true
}

// Holidays returns the holidays of a year that fall on trading weekdays, in
// order. Dates that are not [Exchange.Known] are left out.
func (e *Exchange) Holidays(year int) []Holiday {
	var out []Holiday
	for _, h := range e.year(year).holidays {
		if e.Known(h.Date) {
			out = append(out, h)
		}
	}
	return out
}

// EarlyCloses returns the sessions of a year that close early, in order.
func (e *Exchange) EarlyCloses(year int) []Session {
	return e.sessions(year, func(s Session) bool { return s.Early })
}

// LateOpens returns the sessions of a year that open late, in order.
func (e *Exchange) LateOpens(year int) []Session {
	return e.sessions(year, func(s Session) bool { return s.Late })
}

// SpecialSessions returns the sessions of a year on days that would not be
// sessions by the usual rules, in order.
func (e *Exchange) SpecialSessions(year int) []Session {
	return e.sessions(year, func(s Session) bool { return s.Special })
}

func (e *Exchange) sessions(year int, keep func(Session) bool) []Session {
	var out []Session
	for _, s := range e.year(year).sessions {
		if keep(s) && e.Known(s.Date) {
			out = append(out, s)
		}
	}
	return out
}

// year returns the days of a year, made once and kept. A year out of range is
// empty.
func (e *Exchange) year(y int) *year {
	if y < firstYear || y > lastYear {
		return &year{}
	}
	slot := &e.years[y-firstYear]
	if known := slot.Load(); known != nil {
		return known
	}
	built := buildYear(e.definition(), e.published, y)
	slot.Store(built)
	return built
}

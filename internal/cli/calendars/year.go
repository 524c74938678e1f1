// SPDX-License-Identifier: Apache-2.0

package calendars

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fivespot/fivespot/calendar"
)

// event is a day of a year that is not an ordinary one.
type event struct {
	Date string `json:"date"`
	// Kind is one of closed, earlyClose, lateOpen, specialSession and otherHours.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Open and Close are local times; absent on a closed day.
	Open  string `json:"open,omitempty"`
	Close string `json:"close,omitempty"`
	// Expected: the exchange has not published the day yet.
	Expected bool   `json:"expected,omitempty"`
	Source   string `json:"source,omitempty"`
}

// eventsOf returns the unusual days of a year in order.
func eventsOf(exchange *calendar.Exchange, year int) []event {
	var events []event
	for _, h := range exchange.Holidays(year) {
		events = append(events, event{
			Date: h.Date.String(), Kind: "closed", Name: h.Name, Expected: h.Expected, Source: h.Source,
		})
	}
	for d := calendar.NewDate(year, time.January, 1); d.Year == year; d = d.AddDays(1) {
		if s, ok := exchange.Session(d); ok && s.Name != "" {
			events = append(events, event{
				Date: d.String(), Kind: kindOf(s), Name: s.Name, Open: s.Open.String(), Close: s.Close.String(),
			})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.Date, b.Date) })
	return events
}

func kindOf(s calendar.Session) string {
	switch {
	case s.Special:
		return "specialSession"
	case s.Early:
		return "earlyClose"
	case s.Late:
		return "lateOpen"
	}
	return "otherHours"
}

// says is the event for people.
func (e event) says() string {
	switch e.Kind {
	case "closed":
		if e.Expected {
			return "closed (expected)"
		}
		return "closed"
	case "earlyClose":
		return "closes " + e.Close
	case "lateOpen":
		return "opens " + e.Open
	}
	return e.Open + "-" + e.Close
}

// usual are the ordinary hours of some weekdays, and between which dates of the
// year they are kept.
type usual struct {
	hours       string
	weekdays    [7]bool
	first, last calendar.Date
}

// usualHours returns the ordinary hours of a year, in the order in which they
// first occur.
func usualHours(exchange *calendar.Exchange, year int) []usual {
	var all []usual
	for d := calendar.NewDate(year, time.January, 1); d.Year == year; d = d.AddDays(1) {
		s, ok := exchange.Session(d)
		if !ok || s.Name != "" {
			continue
		}
		hours := hoursOf(s)
		i := slices.IndexFunc(all, func(u usual) bool { return u.hours == hours })
		if i < 0 {
			i, all = len(all), append(all, usual{hours: hours, first: d})
		}
		all[i].weekdays[d.Weekday()], all[i].last = true, d
	}
	return all
}

func hoursOf(s calendar.Session) string {
	text := s.Open.String() + "-" + s.Close.String()
	if off := s.Open.DayOffset(); off != 0 {
		hour, minute := s.Open.Clock()
		text = fmt.Sprintf("%02d:%02d of the day before until %s", hour, minute, s.Close)
	}
	parts := []string{text}
	for _, b := range s.Breaks {
		parts = append(parts, fmt.Sprintf("break %s-%s", b.Start, b.End))
	}
	return strings.Join(parts, ", ")
}

// days spells the weekdays, a run of three or more as a range.
func (u usual) days() string {
	var words []string
	// The week begins on Sunday where Sunday is a trading day.
	start := 1
	if u.weekdays[time.Sunday] {
		start = 0
	}
	for i := start; i < start+7; {
		n := i
		for n < start+7 && u.weekdays[n%7] {
			n++
		}
		switch length := n - i; {
		case length >= 3:
			words = append(words, short(i)+"-"+short(n-1))
		default:
			for ; i < n; i++ {
				words = append(words, short(i))
			}
		}
		i = n + 1
	}
	return strings.Join(words, ", ")
}

func short(weekday int) string { return time.Weekday(weekday % 7).String()[:3] }

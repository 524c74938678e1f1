// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/calendar"
)

func exchange(tb testing.TB, mic string) *calendar.Exchange {
	tb.Helper()
	e, ok := calendar.Lookup(mic)
	if !ok {
		tb.Fatalf("%s is not known", mic)
	}
	return e
}

func date(tb testing.TB, s string) calendar.Date {
	tb.Helper()
	d, err := calendar.ParseDate(s)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// TestDaysThatExchangesHaveAnnounced holds days after those of the oracle, as the
// exchanges' own calendars for the coming years have them.
func TestDaysThatExchangesHaveAnnounced(t *testing.T) {
	for _, c := range []struct{ mic, date, want string }{
		{"XNYS", "2025-01-09", "closed: National Day of Mourning for Jimmy Carter"},
		{"XNYS", "2026-07-02", "09:30-16:00"},
		{"XNYS", "2026-07-03", "closed: Independence Day"},
		{"XNYS", "2026-11-26", "closed: Thanksgiving"},
		{"XNYS", "2026-11-27", "09:30-13:00 early: Day after Thanksgiving"},
		{"XNYS", "2027-06-18", "closed: Juneteenth"},
		{"XNYS", "2027-12-24", "closed: Christmas"},
		{"XNYS", "2027-12-31", "09:30-16:00"}, // 1 January 2028 is a Saturday, and lost
		{"XNYS", "2028-07-03", "09:30-13:00 early: Day before Independence Day"},
		{"XNAS", "2026-12-24", "09:30-13:00 early: Christmas Eve"},
		{"XTSE", "2026-12-28", "closed: Boxing Day"},
		{"XLON", "2026-12-28", "closed: Boxing Day"},
		{"XLON", "2027-12-24", "08:00-12:30 early: Last trading day before Christmas"},
		{"XLON", "2027-12-31", "08:00-12:30 early: Last trading day of the year"},
		{"XDUB", "2026-05-04", "closed: Early May Bank Holiday"},
		{"XMIL", "2025-08-15", "closed: Assumption Day"},
		{"XETR", "2026-10-03", "closed"}, // a Saturday
		{"XETR", "2025-06-09", "09:00-17:30"},
		{"XETR", "2026-12-30", "09:00-14:00 early: Last trading day of the year"},
		{"XTKS", "2026-09-22", "closed: National Holiday"},
		{"XTKS", "2027-03-22", "closed: Vernal Equinox Day (in lieu)"},
		{"XTKS", "2025-11-24", "closed: Labour Thanksgiving Day (in lieu)"},
		{"XTKS", "2025-06-02", "09:00-15:30 break 11:30-12:30"},
		{"XTKS", "2024-11-01", "09:00-15:00 break 11:30-12:30"},
		{"XASX", "2026-04-27", "10:00-16:00"}, // Anzac Day, a Saturday, is not moved
		{"XNZE", "2026-04-27", "closed: Anzac Day"},
		{"XNZE", "2026-07-10", "closed: Matariki"},
		{"BVMF", "2028-12-29", "closed: Last day of the year"},
		{"BVMF", "2026-02-18", "13:00-18:00 late: Ash Wednesday"},
		{"CMES", "2026-11-26", "17:00-1-12:00 early: Thanksgiving"},
		{"XTAE", "2026-01-04", "09:59-15:40"},
		{"XTAE", "2026-01-09", "09:59-13:50"},
		{"XTAE", "2026-01-11", "closed"},
		{"XBOM", "2024-11-01", "18:00-19:00 special: Muhurat trading"},
		{"XBOM", "2024-03-02", "09:15-12:30 break 10:00-11:30 special: Test of the recovery site"},
		{"XHKG", "2023-09-08", "closed: Black rainstorm"},
		{"XHKG", "2026-12-24", "09:30-12:00 early: Christmas Eve"},
		{"XSHG", "2027-01-04", "closed"}, // not known
	} {
		t.Run(c.mic+" "+c.date, func(t *testing.T) {
			if got := describe(exchange(t, c.mic), date(t, c.date)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func describe(e *calendar.Exchange, d calendar.Date) string {
	s, ok := e.Session(d)
	if !ok {
		if name, ok := e.Closure(d); ok {
			return "closed: " + name
		}
		return "closed"
	}
	words := []string{fmt.Sprintf("%s-%s", s.Open, s.Close)}
	for _, b := range s.Breaks {
		words = append(words, fmt.Sprintf("break %s-%s", b.Start, b.End))
	}
	for _, of := range []struct {
		is   bool
		name string
	}{{s.Early, "early"}, {s.Late, "late"}, {s.Special, "special"}} {
		if of.is {
			words = append(words, of.name)
		}
	}
	if s.Name != "" {
		words[len(words)-1] += ": " + s.Name
	}
	return strings.Join(words, " ")
}

func TestATableIsExhaustedAfterItsLastDay(t *testing.T) {
	for _, mic := range []string{"XHKG", "XSHG", "XSES", "XBOM", "XTAE", "XSAU", "XTAI", "XKLS", "XBKK", "XIDX", "XIST"} {
		e := exchange(t, mic)
		until, ok := e.KnownUntil()
		if !ok {
			t.Errorf("%s is known for ever", mic)
			continue
		}
		if !e.Known(until) || e.Known(until.AddDays(1)) {
			t.Errorf("%s: known on %s: %v; on the day after: %v", mic, until, e.Known(until), e.Known(until.AddDays(1)))
		}
		for d := until.AddDays(1); d.Before(until.AddDays(30)); d = d.AddDays(1) {
			if _, open := e.Session(d); open {
				t.Errorf("%s guesses a session on %s", mic, d)
			}
		}
		if got := e.Holidays(until.Year + 1); len(got) != 0 {
			t.Errorf("%s lists holidays of %d: %v", mic, until.Year+1, got)
		}
	}
}

func TestRulesHaveNoEnd(t *testing.T) {
	for _, mic := range []string{"XNYS", "XTSE", "XLON", "XPAR", "XETR", "XSWX", "XASX", "BVMF", "CMES"} {
		e := exchange(t, mic)
		if until, ok := e.KnownUntil(); ok {
			t.Errorf("%s ends on %s", mic, until)
		}
		if !e.Known(calendar.NewDate(2150, time.June, 1)) {
			t.Errorf("%s does not know 2150", mic)
		}
	}
}

func TestDatesBeforeTheFirstAreNotKnown(t *testing.T) {
	e := exchange(t, "XNYS")
	for _, d := range []calendar.Date{date(t, "2014-12-31"), date(t, "1970-01-02"), {}} {
		if _, open := e.Session(d); open || e.Known(d) {
			t.Errorf("%s is known", d)
		}
	}
}

func TestLaterHolidaysOfATableAreMarkedExpected(t *testing.T) {
	e := exchange(t, "XHKG")
	for year, want := range map[int]bool{2026: false, 2027: true} {
		for _, h := range e.Holidays(year) {
			if h.Expected != want {
				t.Errorf("%s %s: expected %v, want %v", h.Date, h.Name, h.Expected, want)
			}
			if h.Source == "" {
				t.Errorf("%s %s has no source", h.Date, h.Name)
			}
		}
	}
}

func TestHolidaysOfAYearInOrder(t *testing.T) {
	var got []string
	for _, h := range exchange(t, "XNYS").Holidays(2027) {
		got = append(got, h.Date.String()+" "+h.Name)
	}
	want := []string{
		"2027-01-01 New Year's Day", "2027-01-18 Martin Luther King Jr. Day", "2027-02-15 Washington's Birthday",
		"2027-03-26 Good Friday", "2027-05-31 Memorial Day", "2027-06-18 Juneteenth", "2027-07-05 Independence Day",
		"2027-09-06 Labor Day", "2027-11-25 Thanksgiving", "2027-12-24 Christmas",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("holidays of 2027 (-want +got):\n%s", diff)
	}
}

// TestEveryExchangeIsWhole walks every day of every exchange.
func TestEveryExchangeIsWhole(t *testing.T) {
	if got := len(calendar.MICs()); got != 39 {
		t.Errorf("%d exchanges, want 39", got)
	}
	for _, mic := range calendar.MICs() {
		e := exchange(t, mic)
		for d := e.KnownFrom(); d.Year <= 2035 && e.Known(d); d = d.AddDays(1) {
			s, open := e.Session(d)
			if !open {
				continue
			}
			if s.Date != d || s.Open >= s.Close {
				t.Errorf("%s %s: %+v", mic, d, s)
			}
			at := s.Open
			for _, b := range s.Breaks {
				if b.Start <= at || b.End <= b.Start || b.End >= s.Close {
					t.Errorf("%s %s: break %s-%s in %s-%s", mic, d, b.Start, b.End, s.Open, s.Close)
				}
				at = b.End
			}
			if (s.Early || s.Late || s.Special) && s.Name == "" {
				t.Errorf("%s %s is unusual, and has no name", mic, d)
			}
		}
	}
}

func TestManyAskAtOnce(t *testing.T) {
	e := exchange(t, "XSTO")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for year := 2100; year < 2110; year++ {
				if n := len(e.Holidays(year)); n == 0 {
					t.Errorf("no holidays in %d", year)
				}
			}
		})
	}
	all.Wait()
}

func TestAskingForASessionAllocatesNothing(t *testing.T) {
	e := exchange(t, "XTKS")
	d := date(t, "2026-06-15")
	e.Session(d)
	if n := testing.AllocsPerRun(100, func() { e.Session(d); e.Closure(d) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"bufio"
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed tables/*.txt
var tables embed.FS

// table is a published list of days, one to a line:
//
//	known 2015-01-01 2028-12-31       the dates that the table speaks about
//	published 2026-12-31              the last date that has been announced
//	source HKEX trading calendars     where the lines below come from
//	2015-01-01 New Year's Day         closed
//	2015-02-18 close=12:00 Lunar New Year's Eve
//	2024-11-01 session=18:00-19:00 Muhurat trading
//	2024-03-02 session=09:15-10:00,11:30-12:30 Test of the recovery site
//
// A # begins a comment.
type table struct {
	from, until, published Date
	closures               []closure
	hours                  []dayHours
	extra                  []extraSession
	source                 string
}

// readTable reads an embedded table. The error names the file and the line.
func readTable(name string) (table, error) {
	file := path.Join("tables", name+".txt")
	text, err := tables.ReadFile(file)
	if err != nil {
		return table{}, fmt.Errorf("reading a table of holidays: %w", err)
	}
	var t table
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := t.add(line); err != nil {
			return table{}, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if t.from.IsZero() || t.until.IsZero() {
		return table{}, fmt.Errorf("%s: the line «known» is missing", file)
	}
	return t, nil
}

// add reads one line.
func (t *table) add(line string) error {
	key, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	var err error
	switch key {
	case "known":
		from, until, _ := strings.Cut(rest, " ")
		if t.from, err = ParseDate(from); err == nil {
			t.until, err = ParseDate(until)
		}
		return err
	case "published":
		t.published, err = ParseDate(rest)
		return err
	case "source":
		t.source = rest
		return nil
	}
	date, err := ParseDate(key)
	if err != nil {
		return err
	}
	return t.addDay(date, rest)
}

// addDay reads what is said of one date.
func (t *table) addDay(date Date, rest string) error {
	word, name, _ := strings.Cut(rest, " ")
	if at, ok := strings.CutPrefix(word, "close="); ok {
		closing, err := parseMinute(at)
		t.hours = append(t.hours, dayHours{rule: once(name, date), close: closing})
		return err
	}
	if spans, ok := strings.CutPrefix(word, "session="); ok {
		x, err := parseExtra(spans)
		x.date, x.name, x.source = date, name, t.source
		t.extra = append(t.extra, x)
		return err
	}
	if rest == "" {
		return fmt.Errorf("%s has no name", date)
	}
	t.closures = append(t.closures, closure{date: date, name: rest, source: t.source})
	return nil
}

// parseExtra reads HH:MM-HH:MM, and further spans after commas; what lies between
// two spans is a break.
func parseExtra(spans string) (extraSession, error) {
	var x extraSession
	for i, span := range strings.Split(spans, ",") {
		from, until, _ := strings.Cut(span, "-")
		open, err := parseMinute(from)
		if err != nil {
			return x, err
		}
		if i == 0 {
			x.open = open
		} else {
			x.breaks = append(x.breaks, Break{x.close, open})
		}
		if x.close, err = parseMinute(until); err != nil {
			return x, err
		}
	}
	return x, nil
}

// once is a rule that gives one date, in its year only.
func once(name string, date Date) rule {
	return rule{name: name, first: date.Year, last: date.Year, on: func(int) Date { return date }}
}

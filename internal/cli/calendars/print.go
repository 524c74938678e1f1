// SPDX-License-Identifier: Apache-2.0

package calendars

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/fivespot/fivespot/calendar"
)

// exchangeLine is an exchange in the list of all.
type exchangeLine struct {
	MIC        string `json:"mic"`
	Name       string `json:"name"`
	Timezone   string `json:"timezone"`
	KnownUntil string `json:"knownUntil,omitempty"`
}

func printExchanges(out io.Writer, output string) error {
	var lines []exchangeLine
	for _, mic := range calendar.MICs() {
		exchange, err := find(mic)
		if err != nil {
			return err
		}
		line := exchangeLine{MIC: mic, Name: exchange.Name, Timezone: exchange.Location.String()}
		if until, ok := exchange.KnownUntil(); ok {
			line.KnownUntil = until.String()
		}
		lines = append(lines, line)
	}
	if output == "json" {
		return printJSON(out, lines)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MIC\tNAME\tTIMEZONE\tKNOWN UNTIL")
	for _, l := range lines {
		if l.KnownUntil == "" {
			l.KnownUntil = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.MIC, l.Name, l.Timezone, l.KnownUntil)
	}
	return table.Flush()
}

func printYear(out io.Writer, mic string, year int, output string) error {
	exchange, err := find(mic)
	if err != nil {
		return err
	}
	if err := checkYear(exchange, year); err != nil {
		return err
	}
	events := eventsOf(exchange, year)
	if output == "json" {
		return printJSON(out, events)
	}
	fmt.Fprintf(out, "%s, %s, %d, times of %s\n", exchange.MIC, exchange.Name, year, exchange.Location)
	for _, u := range usualHours(exchange, year) {
		fmt.Fprintf(out, "%s %s%s\n", u.days(), u.hours, u.period(year))
	}
	fmt.Fprintln(out)
	return printEvents(out, events)
}

// period says from or until when the hours are kept, where that is not all year. A
// market is closed for a few days around the new year at most.
func (u usual) period(year int) string {
	text := ""
	if calendar.NewDate(year, time.January, 14).Before(u.first) {
		text = " from " + u.first.String()
	}
	if u.last.Before(calendar.NewDate(year, time.December, 15)) {
		text += " until " + u.last.String()
	}
	return text
}

func printEvents(out io.Writer, events []event) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DATE\tDAY\tTRADING\tNAME")
	for _, e := range events {
		date, err := calendar.ParseDate(e.Date)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.Date, short(int(date.Weekday())), e.says(), e.Name)
	}
	return table.Flush()
}

// printJSON prints one object per line.
func printJSON[T any](out io.Writer, items []T) error {
	encoder := json.NewEncoder(out)
	for _, item := range items {
		if err := encoder.Encode(item); err != nil {
			return fmt.Errorf("writing JSON: %w", err)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Package calendars is the verb `fivespot calendars`: which exchanges are known,
// and what is unusual about a year of one of them. It asks no cluster.
package calendars

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/cli"
)

// NewCommand returns the verb. The clock gives the year where none is asked for.
func NewCommand(streams cli.Streams, c clock.PassiveClock) *cobra.Command {
	var year int
	var output string
	command := &cobra.Command{
		Use:   "calendars [MIC]",
		Short: "List the exchanges, or the holidays and early closes of one",
		Example: `  fivespot calendars
  fivespot calendars XNYS --year 2027
  fivespot calendars XTKS -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if output != "table" && output != "json" {
				return fmt.Errorf("--output %q: give table or json", output)
			}
			if len(args) == 0 {
				return printExchanges(streams.Out, output)
			}
			if year == 0 {
				year = c.Now().Year()
			}
			return printYear(streams.Out, args[0], year, output)
		},
		ValidArgs: calendar.MICs(),
	}
	command.Flags().IntVar(&year, "year", 0, "Year to show (default: this year).")
	command.Flags().StringVarP(&output, "output", "o", "table", "How to print: table or json, one object per line.")
	return command
}

// find returns the exchange of a MIC, in upper or lower case.
func find(mic string) (*calendar.Exchange, error) {
	exchange, ok := calendar.Lookup(strings.ToUpper(mic))
	if !ok {
		return nil, fmt.Errorf("there is no calendar of %q; known are %s", mic, strings.Join(calendar.MICs(), ", "))
	}
	return exchange, nil
}

// checkYear says in which years the calendar answers where it does not in this one.
func checkYear(exchange *calendar.Exchange, year int) error {
	first, last := calendar.NewDate(year, time.January, 1), calendar.NewDate(year, time.December, 31)
	if exchange.Known(first) || exchange.Known(last) {
		return nil
	}
	if until, ok := exchange.KnownUntil(); ok && until.Before(first) {
		return fmt.Errorf("the calendar of %s ends on %s: %d is not known", exchange.MIC, until, year)
	}
	return fmt.Errorf("the calendar of %s begins on %s: %d is not known", exchange.MIC, exchange.KnownFrom(), year)
}

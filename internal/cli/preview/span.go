// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/internal/schedule"
)

// span returns what --from and --until mean in a zone.
func (o *options) span(zone *schedule.Zone, now time.Time) (from, until time.Time, err error) {
	from = now.UTC().Truncate(time.Second)
	if o.from != "" {
		if from, err = parseTime("--from", o.from, zone); err != nil {
			return from, until, err
		}
	}
	until = from.Add(defaultLength)
	if o.until != "" {
		if until, err = parseTime("--until", o.until, zone); err != nil {
			return from, until, err
		}
	}
	if !from.Before(until) {
		return from, until, fmt.Errorf("--until %s is not after --from %s", until.Format(time.RFC3339), from.Format(time.RFC3339))
	}
	return from, until, nil
}

// checkTimes returns what is wrong with --from and --until in every zone.
func (o *options) checkTimes() error {
	for _, flag := range [][2]string{{"--from", o.from}, {"--until", o.until}} {
		if _, err := parseTime(flag[0], flag[1], schedule.UTC()); flag[1] != "" && err != nil {
			return err
		}
	}
	return nil
}

func parseTime(flag, text string, zone *schedule.Zone) (time.Time, error) {
	if date, err := schedule.ParseDate(text); err == nil {
		return zone.Instant(date, 0), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %q is neither an instant such as 2026-03-08T06:30:00Z nor a date such as 2026-03-08", flag, text)
	}
	return at.UTC(), nil
}

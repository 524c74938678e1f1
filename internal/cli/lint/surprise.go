// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/cli/manifest"
	"github.com/fivespot/fivespot/internal/cli/offline"
	"github.com/fivespot/fivespot/internal/schedule"
)

// reporter collects what is said about one object.
type reporter struct {
	object *manifest.Object
	now    time.Time
	found  Findings
}

func (r *reporter) warn(path, format string, args ...any) {
	r.found = append(r.found, Finding{Object: r.object, Path: path, Warning: true, Text: fmt.Sprintf(format, args...)})
}

func (r *reporter) fail(path, format string, args ...any) {
	r.found = append(r.found, Finding{Object: r.object, Path: path, Text: fmt.Sprintf(format, args...)})
}

// surprises returns what is odd about an object in which nothing is wrong.
func surprises(object *manifest.Object, now time.Time) Findings {
	if !offline.CanEvaluate(object) {
		return nil
	}
	r := &reporter{object: object, now: now}
	switch object.Kind {
	case "TimeBasedSpotSchedule":
		var s v1alpha1.TimeBasedSpotSchedule
		r.decode(&s)
		r.timeBased(&s.Spec)
	case "CapitalMarketsSchedule":
		var s v1alpha1.CapitalMarketsSchedule
		r.decode(&s)
		r.capitalMarkets(&s.Spec)
	case "ManualSchedule":
		var s v1alpha1.ManualSchedule
		r.decode(&s)
		if until := s.Spec.Until; until != nil && !until.After(now) {
			r.warn("spec.until", "is past: the toggle reads as %t", !s.Spec.Enabled)
		}
	}
	return r.found
}

// decode fills a type with an object that has been checked.
func (r *reporter) decode(into any) {
	text, err := json.Marshal(r.object.Content)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		r.fail("", "cannot be read: %v", err)
	}
}

// zone warns of a zone that does not follow local clocks.
func (r *reporter) zone(name *string) {
	if name == nil {
		return
	}
	zone, err := schedule.LoadZone(*name)
	if err != nil || !zone.Fixed() {
		return
	}
	instead := "Europe/Berlin"
	switch *name {
	case "UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal":
		return // Nobody expects daylight saving of these.
	case "EST":
		instead = "America/New_York"
	case "MST":
		instead = "America/Denver"
	case "GMT", "Etc/GMT", "Greenwich", "Etc/Greenwich":
		instead = "Europe/London"
	}
	_, offset := r.now.In(zone.Location()).Zone()
	r.warn("spec.timezone", "%s is %s from UTC all year, without daylight saving; if the clocks of a place are meant, name it, such as %s",
		*name, spellOffset(offset), instead)
}

func spellOffset(seconds int) string {
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	return fmt.Sprintf("%c%02d:%02d", sign, seconds/3600, seconds/60%60)
}

// overnightHours warns where hours run over midnight and not every day is listed.
func (r *reporter) overnightHours(path string, items []string, listed schedule.Days) {
	if listed == everyDay || listed == 0 {
		return
	}
	for i, item := range items {
		for part := range strings.SplitSeq(item, ",") {
			from, to, ranged := strings.Cut(part, "-")
			first, errFirst := schedule.ParseHours([]string{from})
			last, errLast := schedule.ParseHours([]string{to})
			if ranged && errFirst == nil && errLast == nil && first > last {
				r.warn(fmt.Sprintf("%s[%d]", path, i),
					"%q runs over midnight, and its hours count for the weekday they are on, not for the one before; "+
						"a night that belongs to the day it starts on can be written with minutes, as start and end or open and close",
					strings.TrimSpace(part))
			}
		}
	}
}

const everyDay schedule.Days = 1<<7 - 1

// minuteShort warns of an end that leaves a minute of the day out.
func (r *reporter) minuteShort(path, end string) {
	if end == "23:59" {
		r.warn(path, `23:59 leaves out the last minute of the day; write "24:00" for its end`)
	}
}

// past warns of dates before today. Many of them get one warning.
func (r *reporter) past(zone *schedule.Zone, paths, dates []string) {
	today := zone.Date(r.now)
	var first string
	count := 0
	for i, text := range dates {
		if date, err := schedule.ParseDate(text); err == nil && date < today {
			if count == 0 {
				first = paths[i]
			}
			count++
		}
	}
	switch {
	case count == 1:
		r.warn(first, "the date is past")
	case count > 1:
		r.warn(first, "the date is past; in all, %d dates of this list are", count)
	}
}

// opens reports whether a schedule is active now or later.
func (r *reporter) opens(s *schedule.Schedule) bool {
	if s.Active(r.now) {
		return true
	}
	_, changes := s.NextChange(r.now)
	return changes
}

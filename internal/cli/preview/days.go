// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"time"

	"github.com/fivespot/fivespot/internal/cli/offline"
	"github.com/fivespot/fivespot/internal/schedule"
)

// bar is a part of a stretch on one date, in seconds that the wall clock shows
// after midnight.
type bar struct {
	from, to int
	stretch  *offline.Stretch
}

// day is one local date of a picture.
type day struct {
	date schedule.Date
	bars []bar
	// active is how long the schedule is active on that date, in elapsed time.
	active time.Duration
	// shift is by how much the clock is put forward on that date; negative for
	// back.
	shift time.Duration
}

// days returns the dates of a timeline. A date that the zone left out is not
// among them.
func (t *timeline) days() []day {
	var days []day
	for d := t.Zone.Date(t.from); t.Zone.Instant(d, 0).Before(t.until); d++ {
		if t.Zone.Exists(d) {
			days = append(days, t.day(d))
		}
	}
	return days
}

func (t *timeline) day(d schedule.Date) day {
	start, end := t.Zone.Instant(d, 0), t.Zone.Instant(d+1, 0)
	one := day{date: d, shift: offset(t.Zone, end.Add(-time.Second)) - offset(t.Zone, start)}
	for i := range t.stretches {
		stretch := &t.stretches[i]
		from, to := latest(stretch.Start, start), earliest(t.endOf(stretch), end)
		if !from.Before(to) || !stretch.Active && stretch.Unknown == nil {
			continue
		}
		if stretch.Active {
			one.active += to.Sub(from)
		}
		one.bars = append(one.bars, t.bars(from, to, stretch)...)
	}
	return one
}

// bars cuts a part of a date where the wall clock jumps.
func (t *timeline) bars(from, to time.Time, stretch *offline.Stretch) []bar {
	var list []bar
	for from.Before(to) {
		cut := to
		if next, ok := t.Zone.NextOffset(from); ok && next.Before(to) {
			cut = next
		}
		local := from.In(t.Zone.Location())
		seconds := local.Hour()*3600 + local.Minute()*60 + local.Second()
		list = append(list, bar{seconds, min(seconds+int(cut.Sub(from)/time.Second), 24*3600), stretch})
		from = cut
	}
	return list
}

// endOf returns where a stretch ends in the picture.
func (t *timeline) endOf(s *offline.Stretch) time.Time {
	if s.End.IsZero() {
		return t.until
	}
	return earliest(s.End, t.until)
}

func offset(zone *schedule.Zone, at time.Time) time.Duration {
	_, seconds := at.In(zone.Location()).Zone()
	return time.Duration(seconds) * time.Second
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

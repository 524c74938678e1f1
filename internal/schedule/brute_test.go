// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// strangeZones have shifts that are not an hour, at midnight, backwards in
// summer, or over the date line.
var strangeZones = []string{
	"Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca", "Africa/Cairo", "America/Santiago",
	"Antarctica/Troll", "Asia/Kathmandu", "Pacific/Chatham", "America/Nuuk", "Europe/Dublin",
	"Africa/El_Aaiun", "America/St_Johns", "Asia/Gaza", "Asia/Tehran", "Pacific/Kwajalein",
	"Pacific/Kiritimati", "America/Havana", "America/Asuncion", "Atlantic/Azores", "Asia/Beirut",
	"America/Sao_Paulo", "Asia/Amman", "Europe/London", "America/New_York", "Africa/Monrovia",
}

// plan is a random schedule in the words of the rules, for two readers: the
// package and the scan below.
type plan struct {
	zone    string
	days    Days
	hours   Hours
	windows []planWindow
	except  []Date
	once    []Interval
}

type planWindow struct {
	days       Days
	start, end int // minutes; an end at or before the start is on the next date
}

func (p plan) sources(t testing.TB) []Source {
	zone := mustZone(t, p.zone)
	none := map[Date][]Session{}
	for _, d := range p.except {
		none[d] = nil
	}
	sources := []Source{WallClock(zone, NewWeekly(p.days.On(p.hours.Sessions()), none))}
	var week Week
	for _, w := range p.windows {
		shut := w.end
		if shut <= w.start {
			shut += minutesPerDay
		}
		for day := range time.Weekday(daysPerWeek) {
			if w.days.Has(day) {
				week[day] = append(week[day], Session{w.start, shut})
			}
		}
	}
	return append(sources, Sessions(zone, NewWeekly(week, none)), Once(p.once...))
}

// scan says for each minute of a range whether the plan is active. It knows the
// rules and package time, and nothing else: it walks through the minutes and
// notes, for each date, the first at which the clock is at or past each time.
type scan struct {
	from   time.Time
	active []bool
}

// Long enough before the first minute that is judged to have seen every window
// that may still be open open.
const runUp = 5 * 24 * 60

func scanPlan(t testing.TB, p plan, from time.Time, minutes int) scan {
	location := mustZone(t, p.zone).Location()
	s := scan{from: from, active: make([]bool, minutes)}
	type opening struct {
		window int
		date   int64 // days since 1970
	}
	opened := map[opening]bool{}
	var open []opening
	var highest int64 // the furthest the clock has come, in minutes since it showed 1970
	for i := -runUp; i < minutes; i++ {
		at := from.Add(time.Duration(i) * time.Minute)
		wall := at.In(location)
		year, month, day := wall.Date()
		date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400
		reading := date*1440 + int64(wall.Hour()*60+wall.Minute())
		if i == -runUp || reading > highest {
			highest = reading
			for number, w := range p.windows {
				for d := date - 3; d <= date+1; d++ {
					o := opening{number, d}
					if highest < d*1440+int64(w.start) || opened[o] {
						continue
					}
					opened[o] = true
					if w.days.Has(time.Unix(d*86400, 0).UTC().Weekday()) && !p.excepts(d) && existed(location, d) {
						open = append(open, o)
					}
				}
			}
			open = slices.DeleteFunc(open, func(o opening) bool {
				w := p.windows[o.window]
				end := o.date*1440 + int64(w.end)
				if w.end <= w.start {
					end += 1440
				}
				return highest >= end
			})
		}
		if i < 0 {
			continue
		}
		s.active[i] = len(open) > 0 || p.days.Has(wall.Weekday()) && p.hours.Has(wall.Hour()) && !p.excepts(date)
		for _, o := range p.once {
			if !at.Before(o.Start) && at.Before(o.End) {
				s.active[i] = true
			}
		}
	}
	return s
}

// existed looks for an instant at which the zone showed the date.
func existed(location *time.Location, date int64) bool {
	for hour := int64(-30); hour < 54; hour++ {
		year, month, day := time.Unix(date*86400+hour*3600, 0).In(location).Date()
		if time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() == date*86400 {
			return true
		}
	}
	return false
}

func (p plan) excepts(date int64) bool {
	return slices.ContainsFunc(p.except, func(d Date) bool { return int64(d) == date })
}

// genZone prefers the strange ones.
func genZone() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(strangeZones), rapid.SampledFrom(zoneFiles().names))
}

// genStart returns a whole minute in 1970 to 2100, mostly just before a change
// of the zone's offset.
func genStart(r *rapid.T, zone *Zone) time.Time {
	first, last := NewDate(1970, 1, 1), NewDate(2100, 12, 31)
	if rapid.IntRange(0, 3).Draw(r, "near a change of offset") > 0 {
		var changes []int64
		for _, p := range zone.pieces {
			if p.start > first.local() && p.start < last.local() {
				changes = append(changes, p.start)
			}
		}
		if len(changes) > 0 {
			at := rapid.SampledFrom(changes).Draw(r, "change of offset")
			at -= int64(rapid.IntRange(0, 3*24*60).Draw(r, "minutes before it")) * 60
			return time.Unix(at, 0).UTC().Truncate(time.Minute)
		}
	}
	day := rapid.Int32Range(int32(first), int32(last)).Draw(r, "day")
	return time.Unix(int64(day)*secondsPerDay, 0).UTC()
}

func genMinute(r *rapid.T, label string) int {
	if rapid.Bool().Draw(r, label+" is a usual one") {
		return rapid.SampledFrom([]int{0, 1, 30, 59, 60, 90, 119, 120, 150, 179, 180, 540, 720, 1380, 1410, 1439}).Draw(r, label)
	}
	return rapid.IntRange(0, 1439).Draw(r, label)
}

func genPlan(r *rapid.T, zoneName string, near time.Time) plan {
	p := plan{
		zone:  zoneName,
		days:  Days(rapid.Uint8Range(0, 127).Draw(r, "days")),
		hours: Hours(rapid.Uint32Range(0, 1<<24-1).Draw(r, "hours")),
	}
	if rapid.IntRange(0, 2).Draw(r, "without hours") > 0 {
		p.hours = 0
	}
	for range rapid.IntRange(0, 3).Draw(r, "windows") {
		w := planWindow{
			days:  Days(rapid.Uint8Range(0, 127).Draw(r, "window days")),
			start: genMinute(r, "start"),
			end:   genMinute(r, "end"),
		}
		if rapid.IntRange(0, 4).Draw(r, "until midnight") == 0 {
			w.end = minutesPerDay
		}
		if w.start != w.end {
			p.windows = append(p.windows, w)
		}
	}
	today := Date(floorDiv(near.Unix(), secondsPerDay))
	for range rapid.IntRange(0, 2).Draw(r, "excepted dates") {
		p.except = append(p.except, today+Date(rapid.IntRange(-2, 9).Draw(r, "excepted")))
	}
	for range rapid.IntRange(0, 1).Draw(r, "single intervals") {
		start := near.Add(time.Duration(rapid.IntRange(-3000, 9000).Draw(r, "start")) * time.Minute)
		p.once = append(p.once, Interval{start, start.Add(time.Duration(rapid.IntRange(1, 3000).Draw(r, "length")) * time.Minute)})
	}
	return p
}

// Zones had offsets with odd seconds until the 1970s, so that their boundaries
// do not fall on whole minutes; the scan cannot see those.
func wholeMinutes(zone *Zone, from time.Time, minutes int) bool {
	for at := from.Add(-runUp * time.Minute); at.Before(from.Add(time.Duration(minutes) * time.Minute)); at = at.Add(6 * time.Hour) {
		if zone.offset(at.Unix())%60 != 0 {
			return false
		}
	}
	return true
}

func TestAnswersEqualAScanOfEveryMinute(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		zoneName := genZone().Draw(r, "zone")
		zone := mustZone(t, zoneName)
		from := genStart(r, zone)
		const minutes = 8 * 24 * 60
		if !wholeMinutes(zone, from, minutes) {
			r.Skip("offset of odd seconds")
		}
		p := genPlan(r, zoneName, from)
		want := scanPlan(t, p, from, minutes)
		s := New(p.sources(t)...)
		next := minutes // index of the next change after i, when inside the range
		for i := minutes - 1; i >= 0; i-- {
			at := from.Add(time.Duration(i) * time.Minute)
			if got := s.Active(at); got != want.active[i] {
				r.Fatalf("%s: active is %t, the scan says %t\n%+v", at.Format(time.RFC3339), got, want.active[i], p)
			}
			if i < minutes-1 && want.active[i+1] != want.active[i] {
				next = i + 1
			}
			if i%7 != 0 && i != next-1 {
				continue
			}
			got, ok := s.NextChange(at)
			limit := from.Add(minutes * time.Minute)
			switch wantNext := from.Add(time.Duration(next) * time.Minute); {
			case next < minutes && !got.Equal(wantNext):
				r.Fatalf("%s: next change %s, the scan says %s\n%+v", at.Format(time.RFC3339), got, wantNext, p)
			case next == minutes && ok && got.Before(limit):
				r.Fatalf("%s: next change %s, the scan sees none before %s\n%+v", at.Format(time.RFC3339), got, limit, p)
			}
		}
	})
}

func TestNextChangeIsAChangeAndNothingChangesBefore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		zoneName := genZone().Draw(r, "zone")
		from := genStart(r, mustZone(t, zoneName)).Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(r, "offset")))
		s := New(genPlan(r, zoneName, from).sources(t)...)
		next, ok := s.NextChange(from)
		end := next
		if !ok {
			end = from.AddDate(1000, 0, 0)
		} else {
			if !next.After(from) {
				r.Fatalf("next change %s is not after %s", next, from)
			}
			if s.Active(next) == s.Active(from) {
				r.Fatalf("%s to %s: no change", from, next)
			}
			if s.Active(next.Add(-time.Nanosecond)) != s.Active(from) {
				r.Fatalf("it changed before %s", next)
			}
		}
		for range 20 {
			between := from.Add(time.Duration(rapid.Int64Range(0, max(int64(min(end.Sub(from), 1<<62))-1, 0)).Draw(r, "between")))
			if s.Active(between) != s.Active(from) {
				r.Fatalf("active is %t at %s, %t at %s, and the next change is at %s (%t)", s.Active(from), from, s.Active(between), between, next, ok)
			}
			// A restart in between finds the same next change.
			if again, okAgain := s.NextChange(between); okAgain != ok || !again.Equal(next) {
				r.Fatalf("next change after %s is %s (%t), after %s it is %s (%t)", from, next, ok, between, again, okAgain)
			}
		}
	})
}

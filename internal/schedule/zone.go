// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"sort"
	"time"
)

// Zone is a time zone as a table of offsets. It answers two questions that
// time.Location does not: what is the furthest reading that the wall clock has
// come to by an instant, and when does it first come to a reading.
//
// Readings ("local" below) are seconds since a wall clock in the zone showed
// 1970-01-01 00:00. Instants are seconds since 1970-01-01T00:00:00Z.
type Zone struct {
	name     string
	location *time.Location
	pieces   []piece
	skipped  []Date
	settled  period
}

// period says from which instant on something repeats itself, and after how
// many seconds it has done all it does.
type period struct{ from, length int64 }

func (p period) later(seconds int64) period { return period{p.from + seconds, p.length} }

// piece is a stretch of time with one offset.
type piece struct {
	start  int64 // instant; the first piece starts at beginning
	high   int64 // the furthest reading that any earlier piece came to
	offset int64
}

const (
	beginning = -1 << 50
	forever   = 1 << 50

	// The Gregorian calendar repeats every 400 years, weekdays included, and so
	// does every rule by which a zone goes on after its last listed transition.
	gregorianCycle = 146097 * secondsPerDay

	// From the start of 2101 every zone follows its rule (a test makes sure).
	// The table covers one whole cycle and a year on either side of it.
	cycleStart = 4133980800
	cycleEnd   = cycleStart + gregorianCycle
	tableEnd   = cycleEnd + 366*secondsPerDay
)

func newZone(name string, location *time.Location) *Zone {
	zone := &Zone{name: name, location: location}
	high := int64(beginning)
	for at := int64(beginning); at < tableEnd; {
		_, offset := time.Unix(at, 0).In(location).Zone()
		end := offsetEnd(location, at)
		if n := len(zone.pieces); n == 0 || zone.pieces[n-1].offset != int64(offset) {
			zone.pieces = append(zone.pieces, piece{start: at, high: high, offset: int64(offset)})
		}
		high = max(high, end+int64(offset)-1)
		at = end
	}
	zone.skipped = zone.findSkipped()
	zone.settled = zone.findPeriod()
	return zone
}

// offsetEnd returns an instant after at, up to which the offset is the same.
func offsetEnd(location *time.Location, at int64) int64 {
	t := time.Unix(at, 0).In(location)
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return forever
	}
	if end.Unix() > at {
		return end.Unix()
	}
	// On 31 December of a leap year the end that Go gives is already past: its
	// rules count 365 days a year. The rule itself changes at no new year.
	return time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
}

// findSkipped lists the dates that the zone left out whole, as when it moved
// across the date line.
func (z *Zone) findSkipped() []Date {
	var skipped []Date
	for i := 1; i < len(z.pieces); i++ {
		from, to := z.pieces[i].high+1, z.pieces[i].start+z.pieces[i].offset
		for d := dateOfLocal(from + secondsPerDay - 1); (d + 1).local() <= to; d++ {
			skipped = append(skipped, d)
		}
	}
	return skipped
}

// findPeriod returns from when on the zone goes on as it does at the end of its
// table. Where clocks change twice a year, always on the same weekday at the
// same time, then what one year's two changes do to a weekly pattern is what all
// do, and a period is two years, to hold both of them whole. The whole cycle of
// the calendar is the period of any other rule.
func (z *Zone) findPeriod() period {
	last := len(z.pieces) - 1
	if z.pieces[last].start < cycleStart {
		return period{from: z.pieces[last].start}
	}
	first := last - 1
	for first > 1 && z.alike(first-1, first+1) {
		first--
	}
	if z.pieces[first].start > cycleStart {
		return period{from: cycleStart, length: gregorianCycle}
	}
	return period{from: z.pieces[first].start, length: 2 * 366 * secondsPerDay}
}

// alike reports whether two changes of offset are the same but for the year.
func (z *Zone) alike(i, j int) bool {
	const week, season = daysPerWeek * secondsPerDay, 60 * secondsPerDay
	a, b := z.pieces[i], z.pieces[j]
	return a.offset == b.offset && z.pieces[i-1].offset == z.pieces[j-1].offset &&
		floorMod(a.start, week) == floorMod(b.start, week) &&
		z.pieces[i+1].start-a.start >= season
}

// Name returns the IANA name.
func (z *Zone) Name() string { return z.name }

// Location returns the zone for use with package time, from the same data.
func (z *Zone) Location() *time.Location { return z.location }

// Date returns the date that the wall clock shows at an instant.
func (z *Zone) Date(t time.Time) Date {
	at := clamp(t)
	return dateOfLocal(at + z.offset(at))
}

// Instant returns the first instant at which the wall clock is at or past a
// number of minutes after the midnight that begins a date. The minutes may be
// negative or more than a day. When the clock skips that time, this is the end
// of the gap, on the next date where the gap runs past midnight.
func (z *Zone) Instant(d Date, minutes int) time.Time {
	return time.Unix(z.instant(d.local()+int64(minutes)*secondsPerMinute), 0).UTC()
}

// Exists reports whether the zone had the date at all. It is false for
// 2011-12-30 in Pacific/Apia.
func (z *Zone) Exists(d Date) bool {
	return !slices.Contains(z.skipped, d)
}

// find returns the index of the piece that an instant lies in, and how many
// seconds were taken off the instant to bring it into the table.
func (z *Zone) find(at int64) (index int, shift int64) {
	shift = cycleShift(at)
	at -= shift
	n := sort.Search(len(z.pieces), func(i int) bool { return z.pieces[i].start > at })
	return max(n-1, 0), shift
}

// cycleShift returns the whole cycles to take off an instant, or a reading, to
// bring it into the table.
func cycleShift(at int64) int64 {
	if at < cycleEnd {
		return 0
	}
	return (at - cycleStart) / gregorianCycle * gregorianCycle
}

func (z *Zone) offset(at int64) int64 {
	index, _ := z.find(at)
	return z.pieces[index].offset
}

// high returns the furthest reading that the wall clock has come to by an
// instant. Unlike the wall clock it never goes back: it stands still while the
// clock repeats itself.
func (z *Zone) high(at int64) int64 {
	index, shift := z.find(at)
	p := z.pieces[index]
	return max(at-shift+p.offset, p.high) + shift
}

// instant returns the first instant at which the wall clock is at or past a
// reading. It never decreases as the reading grows.
func (z *Zone) instant(local int64) int64 {
	shift := cycleShift(local)
	local -= shift
	n := sort.Search(len(z.pieces), func(i int) bool { return z.pieces[i].high >= local })
	p := z.pieces[max(n-1, 0)]
	return max(p.start, local-p.offset) + shift
}

// offsetUntil returns the instant at which the offset next changes; forever if
// it does not.
func (z *Zone) offsetUntil(at int64) int64 {
	index, shift := z.find(at)
	if index+1 == len(z.pieces) {
		return forever
	}
	return z.pieces[index+1].start + shift
}

// Instants further than this from 1970, some 30,000 years, are taken as if they
// were this far.
const farthest = 1 << 40

func clamp(t time.Time) int64 { return min(max(t.Unix(), -farthest), farthest) }

// Fixed reports whether the zone has had one offset from the beginning: UTC, or
// an offset such as Etc/GMT+5. EST, MST and HST are taken for what they say,
// whatever places the database now makes of them.
func (z *Zone) Fixed() bool {
	switch z.name {
	case "EST", "MST", "HST":
		return true
	}
	return len(z.pieces) == 1
}

// NextOffset returns the next instant at which the zone changes its offset, and
// false where it never does again.
func (z *Zone) NextOffset(t time.Time) (time.Time, bool) {
	at := z.offsetUntil(clamp(t))
	if at >= farthest {
		return time.Time{}, false
	}
	return time.Unix(at, 0).UTC(), true
}

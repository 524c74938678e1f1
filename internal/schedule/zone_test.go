// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

func mustZone(t testing.TB, name string) *Zone {
	t.Helper()
	zone, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func instantOf(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Package time is the other opinion on every zone's offsets.
func TestOffsetsOfEveryZoneAreThoseOfPackageTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range zoneFiles().names {
		zone := mustZone(t, name)
		check := func(at int64) {
			t.Helper()
			if _, want := time.Unix(at, 0).In(zone.Location()).Zone(); zone.offset(at) != int64(want) {
				t.Fatalf("%s at %s: offset %d, package time says %d", name, time.Unix(at, 0).UTC(), zone.offset(at), want)
			}
		}
		for _, p := range zone.pieces[1:] {
			check(p.start - 1)
			check(p.start)
		}
		for range 2000 {
			check(random.Int64N(1<<36) - 1<<34) // 1425 to 3058
		}
		for range 200 {
			check(random.Int64N(1<<41) - 1<<40)
		}
		for year := 1972; year < 2600; year += 4 {
			check(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).Unix())
			check(time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC).Unix())
		}
	}
}

// The table holds one cycle of the years after 2101 and repeats it.
func TestEveryZoneRepeatsAfter400Years(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range zoneFiles().names {
		location := mustZone(t, name).Location()
		for range 500 {
			at := cycleStart + random.Int64N(gregorianCycle)
			_, one := time.Unix(at, 0).In(location).Zone()
			_, two := time.Unix(at+gregorianCycle, 0).In(location).Zone()
			if one != two {
				t.Fatalf("%s: offset %d at %s, %d 400 years later", name, one, time.Unix(at, 0).UTC(), two)
			}
		}
	}
}

// The first instant at which the wall clock is at or past a reading, found by
// walking through time.
func TestInstantIsTheFirstAtOrPastTheReading(t *testing.T) {
	for _, name := range strangeZones {
		zone := mustZone(t, name)
		for i, p := range zone.pieces[1:] {
			if i > 250 {
				break
			}
			highest, at := int64(beginning), p.start-2*secondsPerDay
			for ; at < p.start+2*secondsPerDay; at += 15 * 60 {
				reading := at + zone.offset(at)
				if reading <= highest {
					continue
				}
				highest = reading
				if at <= p.start-secondsPerDay {
					continue // The walk has to come from before any repetition.
				}
				got := zone.instant(reading)
				if got > at || got+zone.offset(got) < reading || got > beginning && got-1+zone.offset(got-1) >= reading {
					t.Fatalf("%s: reading %s first at %s, the walk says %s", name,
						time.Unix(reading, 0).UTC(), time.Unix(got, 0).UTC(), time.Unix(at, 0).UTC())
				}
			}
		}
	}
}

// The last second before a jump, and the first one after it.
func TestInstantIsExactToTheSecondAroundAJump(t *testing.T) {
	zone := mustZone(t, "Europe/Berlin")
	spring := instantOf(t, "2026-03-29T01:00:00Z").Unix() // 02:00 becomes 03:00
	reading := instantOf(t, "2026-03-29T02:00:00Z").Unix()
	for ahead, want := range map[int64]int64{-1: spring - 1, 0: spring, 1: spring, 3600: spring, 3601: spring + 1} {
		if got := zone.instant(reading + ahead); got != want {
			t.Errorf("%d seconds after 02:00: %d seconds after the jump, want %d", ahead, got-spring, want-spring)
		}
	}
}

// A rule that goes by days of the year puts each year's changes on another
// weekday. No zone has one today.
func TestARuleByDayOfTheYearHasThePeriodOfTheCalendar(t *testing.T) {
	location, err := time.LoadLocationFromTZData("Test", zoneFile("XXX-1YYY,J60/2,J300/3"))
	if err != nil {
		t.Fatal(err)
	}
	if got := newZone("Test", location).settled; got.length != gregorianCycle {
		t.Errorf("period %d", got.length)
	}
	location, err = time.LoadLocationFromTZData("Test", zoneFile("XXX-1YYY,M3.5.0/2,M10.5.0/3"))
	if err != nil {
		t.Fatal(err)
	}
	if got := newZone("Test", location).settled; got.length == gregorianCycle {
		t.Errorf("period %d", got.length)
	}
}

// zoneFile returns time zone data (RFC 8536) with no transition but a rule.
func zoneFile(rule string) []byte {
	block := func() []byte {
		header := append([]byte("TZif2"), make([]byte, 15)...)
		for _, count := range []byte{0, 0, 0, 1, 1, 4} { // transitions 1, types 1, letters 4
			header = append(header, 0, 0, 0, count)
		}
		return header
	}
	local := append([]byte{0, 0, 0x0e, 0x10, 0, 0}, "XXX\x00"...)
	file := append(block(), 0, 0, 0, 0, 0) // one transition, in 1970, to type 0
	file = append(append(file, local...), block()...)
	file = append(file, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return append(append(file, local...), "\n"+rule+"\n"...)
}

func TestFixedZones(t *testing.T) {
	for name, want := range map[string]bool{
		"UTC": true, "EST": true, "MST": true, "HST": true, "Etc/GMT-14": true,
		"America/New_York": false, "Asia/Kolkata": false, "EST5EDT": false, "America/Panama": false,
	} {
		if got := mustZone(t, name).Fixed(); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestNextOffset(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	for at, want := range map[string]string{
		"2026-03-29T00:59:59Z": "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z": "2026-10-25T01:00:00Z", "9999-07-01T00:00:00Z": "9999-10-31T01:00:00Z",
	} {
		if got, ok := berlin.NextOffset(instantOf(t, at)); !ok || !got.Equal(instantOf(t, want)) {
			t.Errorf("after %s: %s, want %s", at, got, want)
		}
	}
	if got, ok := mustZone(t, "Asia/Kolkata").NextOffset(instantOf(t, "1999-01-01T00:00:00Z")); ok {
		t.Errorf("Kolkata changes its offset at %s", got)
	}
}

func TestInstantOfATimeThatIsSkippedOrRepeated(t *testing.T) {
	tests := map[string]struct {
		zone    string
		date    Date
		minutes int
		want    string
	}{
		"skipped in spring is the end of the gap":      {"America/New_York", NewDate(2026, 3, 8), 2*60 + 30, "2026-03-08T07:00:00Z"},
		"repeated in autumn is its first occurrence":   {"America/New_York", NewDate(2026, 11, 1), 90, "2026-11-01T05:30:00Z"},
		"half an hour skipped":                         {"Australia/Lord_Howe", NewDate(2026, 10, 4), 2*60 + 15, "2026-10-03T15:30:00Z"},
		"midnight skipped":                             {"Africa/Cairo", NewDate(2026, 4, 24), 0, "2026-04-23T22:00:00Z"},
		"midnight skipped, seen as the end of the day": {"Africa/Cairo", NewDate(2026, 4, 23), 24 * 60, "2026-04-23T22:00:00Z"},
		"gap that runs past midnight":                  {"America/Nuuk", NewDate(2026, 3, 28), 23*60 + 30, "2026-03-29T01:00:00Z"},
		"midnight repeated":                            {"America/Santiago", NewDate(2026, 4, 5), 0, "2026-04-05T04:00:00Z"},
		"date left out":                                {"Pacific/Apia", NewDate(2011, 12, 30), 9 * 60, "2011-12-30T10:00:00Z"},
		"two hours skipped":                            {"Antarctica/Troll", NewDate(2026, 3, 29), 2 * 60, "2026-03-29T01:00:00Z"},
		"year 9999":                                    {"Europe/Berlin", NewDate(9999, 7, 1), 9 * 60, "9999-07-01T07:00:00Z"},
		"day before, as minutes below zero":            {"UTC", NewDate(2026, 1, 1), -6 * 60, "2025-12-31T18:00:00Z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustZone(t, test.zone).Instant(test.date, test.minutes)
			if want := instantOf(t, test.want); !got.Equal(want) {
				t.Errorf("got %s, want %s", got.Format(time.RFC3339), test.want)
			}
		})
	}
}

func TestDatesThatZonesLeftOut(t *testing.T) {
	want := map[string]string{
		"Pacific/Apia": "2011-12-30", "Pacific/Fakaofo": "2011-12-30",
		"Pacific/Kwajalein": "1993-08-21", "Pacific/Kiritimati": "1994-12-31", "Pacific/Enderbury": "1994-12-31",
	}
	for name, date := range want {
		zone := mustZone(t, name)
		d, err := ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		if zone.Exists(d) || !zone.Exists(d-1) || !zone.Exists(d+1) {
			t.Errorf("%s: %s should be left out, the dates beside it not; left out: %v", name, date, zone.skipped)
		}
	}
	for _, name := range zoneFiles().names {
		for _, d := range mustZone(t, name).skipped {
			if year, _, _ := d.Civil(); year > 2011 {
				t.Errorf("%s leaves out %s", name, d)
			}
		}
	}
}

func TestLoadZoneRefusesWhatIsNotAZone(t *testing.T) {
	tests := map[string]string{
		"":              `"" is not an IANA time zone name such as Europe/Berlin or UTC`,
		"Local":         `"Local" is not an IANA time zone name such as Europe/Berlin or UTC`,
		"europe/berlin": `"europe/berlin" is not an IANA time zone name such as Europe/Berlin or UTC; did you mean Europe/Berlin?`,
		"New York":      `"New York" is not an IANA time zone name such as Europe/Berlin or UTC; did you mean America/New_York?`,
		"utc":           `"utc" is not an IANA time zone name such as Europe/Berlin or UTC; did you mean UTC?`,
		"../etc/passwd": `"../etc/passwd" is not an IANA time zone name such as Europe/Berlin or UTC`,
		"Mars/Olympus":  `"Mars/Olympus" is not an IANA time zone name such as Europe/Berlin or UTC`,
		"Factory":       `"Factory" is not an IANA time zone name such as Europe/Berlin or UTC`,
	}
	for name, want := range tests {
		if _, err := LoadZone(name); err == nil || err.Error() != want {
			t.Errorf("LoadZone(%q): %v, want %s", name, err, want)
		}
	}
	for _, name := range []string{"UTC", "EST", "Etc/GMT+5", "Asia/Calcutta", "America/Argentina/ComodRivadavia"} {
		if _, err := LoadZone(name); err != nil {
			t.Errorf("LoadZone(%q): %v", name, err)
		}
	}
}

func TestDates(t *testing.T) {
	for d := MinDate; d < MaxDate; d += 1234567 {
		if year, month, day := d.Civil(); NewDate(year, month, day) != d {
			t.Errorf("%d is %d-%d-%d and back %d", d, year, month, day, NewDate(year, month, day))
		}
	}
	for d := NewDate(1890, 1, 1); d < NewDate(2110, 1, 1); d++ {
		year, month, day := d.Civil()
		want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if d.Weekday() != want.Weekday() || d.String() != want.Format(time.DateOnly) {
			t.Fatalf("%s is a %s, want %s, a %s", d, d.Weekday(), want.Format(time.DateOnly), want.Weekday())
		}
		if back, err := ParseDate(d.String()); err != nil || back != d {
			t.Fatalf("%s reads as %s, %v", d, back, err)
		}
	}
}

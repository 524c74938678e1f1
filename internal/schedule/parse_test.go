// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDaysAndHoursAreReadAsUpstreamReadsThem(t *testing.T) {
	days := map[string]string{
		"":                "",
		"mon":             "mon",
		"mon-fri":         "mon tue wed thu fri",
		"fri-mon":         "mon fri sat sun",
		"sun-sat":         "mon tue wed thu fri sat sun",
		"mon-wed,fri-sun": "mon tue wed fri sat sun",
		"mon , wed - thu": "mon wed thu",
		"sun-sun":         "sun",
		"mon,mon|tue":     "mon tue",
		"tue-mon":         "mon tue wed thu fri sat sun",
	}
	for text, want := range days {
		got, err := ParseDays(items(text))
		if err != nil || spellDays(got) != want {
			t.Errorf("days %q: %q, %v; want %q", text, spellDays(got), err, want)
		}
	}
	hours := map[string]string{
		"":            "",
		"0":           "0",
		"9-11":        "9 10 11",
		"22-1":        "0 1 22 23",
		"3-3":         "3",
		"9-10,10-11":  "9 10 11",
		"09, 007 ,+8": "7 8 9",
		"23|0":        "0 23",
		"00-02":       "0 1 2",
	}
	for text, want := range hours {
		got, err := ParseHours(items(text))
		if err != nil || spellHours(got) != want {
			t.Errorf("hours %q: %q, %v; want %q", text, spellHours(got), err, want)
		}
	}
}

// items splits a test's text at bars into list items.
func items(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "|")
}

var weekdayNames = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func spellDays(days Days) string {
	var names []string
	for i, name := range weekdayNames {
		if days.Has(time.Weekday((i + 1) % 7)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func spellHours(hours Hours) string {
	var names []string
	for hour := range 24 {
		if hours.Has(hour) {
			names = append(names, strconv.Itoa(hour))
		}
	}
	return strings.Join(names, " ")
}

// grammar says the same as a parser, by other means: each part between commas
// matches the expression, and stands for the members from its first to its last
// on a ring.
func grammar(item string, part *regexp.Regexp, index func(string) int, size int) (members map[int]bool, ok bool) {
	members = map[int]bool{}
	for text := range strings.SplitSeq(item, ",") {
		match := part.FindStringSubmatch(strings.TrimSpace(text))
		if match == nil {
			return nil, false
		}
		first := index(match[1])
		last := first
		if match[2] != "" {
			last = index(match[2])
		}
		if first < 0 || first >= size || last < 0 || last >= size {
			return nil, false
		}
		for i := first; ; i = (i + 1) % size {
			members[i] = true
			if i == last {
				break
			}
		}
	}
	return members, true
}

var dayPart = regexp.MustCompile(`^(mon|tue|wed|thu|fri|sat|sun)(?:[\s\v]*-[\s\v]*(mon|tue|wed|thu|fri|sat|sun))?$`)

func FuzzParseDays(f *testing.F) {
	for _, seed := range []string{"mon", "mon-fri", "fri-mon", "mon,wed-fri", "mon-fry", "Mon", "", ",", "mon-", "-", "mon–fri", " sat - sun "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, item string) {
		if strings.TrimSpace(item) != strings.Trim(item, " \t\n\v\f\r") || strings.ContainsAny(item, "\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000") || strings.ContainsFunc(item, func(r rune) bool { return r >= 0x2000 && r <= 0x200a }) {
			t.Skip("blanks beyond ASCII are trimmed too, which the expression does not say")
		}
		got, err := ParseDays([]string{item})
		members, ok := grammar(item, dayPart, func(name string) int {
			for i, known := range weekdayNames {
				if name == known {
					return (i + 1) % 7
				}
			}
			return -1
		}, 7)
		checkParsed(t, item, err, ok)
		for day := range 7 {
			if ok && got.Has(time.Weekday(day)) != members[day] {
				t.Errorf("%q: weekday %d is %t", item, day, got.Has(time.Weekday(day)))
			}
		}
	})
}

var hourPart = regexp.MustCompile(`^(\+?[0-9]+)(?:[\s\v]*-[\s\v]*(\+?[0-9]+))?$`)

func FuzzParseHours(f *testing.F) {
	for _, seed := range []string{"0", "23", "24", "9-17", "22-6", "9-12,12-17", "-1", "9-24", "9–17", "", "+", "+9", "007", "9 - 10", "99999999999999999999", "1e1", "0\v-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, item string) {
		if strings.ContainsFunc(item, func(r rune) bool { return r > 127 }) {
			if _, err := ParseHours([]string{item}); err == nil && strings.TrimFunc(item, func(r rune) bool { return r > 127 }) == item {
				t.Errorf("%q is read", item)
			}
			return
		}
		got, err := ParseHours([]string{item})
		members, ok := grammar(item, hourPart, func(text string) int {
			number, err := strconv.Atoi(text)
			if err != nil {
				return -1
			}
			return number
		}, 24)
		checkParsed(t, item, err, ok)
		for hour := range 24 {
			if ok && got.Has(hour) != members[hour] {
				t.Errorf("%q: hour %d is %t", item, hour, got.Has(hour))
			}
		}
	})
}

func checkParsed(t *testing.T, item string, err error, ok bool) {
	t.Helper()
	if (err == nil) != ok {
		t.Fatalf("%q: error %v, the grammar says ok=%t", item, err, ok)
	}
	var field *FieldError
	if err != nil && (!errors.As(err, &field) || field.Path != "[0]" || field.Value != item || field.Want == "") {
		t.Fatalf("%q: the error %v does not name index, value and what would be right", item, err)
	}
}

func FuzzParseClock(f *testing.F) {
	for _, seed := range []string{"00:00", "24:00", "24:01", "23:59", "9:00", "09:60", "09-00", "0900", "09:0", "٠٩:٠٠", "+9:00", "09:00 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseClock(text)
		var want time.Time
		var wantErr error
		if len(text) == 5 {
			want, wantErr = time.Parse("15:04", text)
		}
		switch {
		case text == "24:00":
			if err != nil || got != 1440 {
				t.Errorf("24:00 is %d, %v", got, err)
			}
		case (err == nil) != (len(text) == 5 && wantErr == nil):
			t.Errorf("%q: %v; package time says %v", text, err, wantErr)
		case err == nil && got != want.Hour()*60+want.Minute():
			t.Errorf("%q is %d", text, got)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{"2026-12-25", "2028-02-29", "2027-02-29", "2026-6-01", "2026-12-25T00:00:00Z", "0000-01-01", "10000-01-01", "-001-01-01", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDate(text); err == nil && d.String() != text {
			t.Errorf("%q reads as %s", text, d)
		}
	})
}

func FuzzParseInstant(f *testing.F) {
	for _, seed := range []string{"2026-12-24T18:00:00Z", "2026-12-24T18:00:00+05:45", "2026-12-24T18:00:00.5Z", "2026-12-24 18:00:00Z", "2026-12-24T24:00:00Z", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseInstant(text)
		if err != nil {
			return
		}
		if again, err := ParseInstant(at.Format(time.RFC3339)); at.Year() >= 0 && at.Year() < 10000 && (err != nil || !again.Equal(at)) {
			t.Errorf("%q is %s and back %s, %v", text, at, again, err)
		}
	})
}

func FuzzLoadZone(f *testing.F) {
	for _, seed := range []string{"UTC", "Local", "", "Europe/Berlin", "europe/berlin", "../../etc/passwd", "EST", "Etc/GMT+5", "Factory", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := LoadZone(name)
		if err == nil && zone.Name() != name {
			t.Errorf("%q is %q", name, zone.Name())
		}
	})
}

func TestErrorsKeepTheirPlaceInTheObject(t *testing.T) {
	_, errDays := ParseDays([]string{"mon", "x", "y"})
	_, errWindow := ParseWindow("25:00", "26:00")
	other := errors.New("disk on fire")
	err := Under("spec", errors.Join(Under("days", errDays), Under("windows[3]", errWindow)))
	var paths []string
	for _, e := range FieldErrors(err) {
		paths = append(paths, e.Path)
	}
	want := []string{"spec.days[1]", "spec.days[2]", "spec.windows[3].start", "spec.windows[3].end"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if err := Under("spec", other); !errors.Is(err, other) || err.Error() != "spec: disk on fire" {
		t.Errorf("another error became %v", err)
	}
	if Under("spec", nil) != nil || FieldErrors(nil) != nil || FieldErrors(other) != nil {
		t.Error("something came of nothing")
	}
}

// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fivespot/fivespot/calendar"
)

// TestEverySessionEqualsTheOracle compares each day of each oracle file, in UTC,
// with what the calendar says. A day named in DIFFERENCES.md is left out, and must
// differ: a difference that is gone is to be taken off the list.
func TestEverySessionEqualsTheOracle(t *testing.T) {
	different := differences(t)
	for _, file := range oracleFiles(t) {
		mic := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(mic, func(t *testing.T) {
			exchange, ok := calendar.Lookup(mic)
			if !ok {
				t.Fatalf("%s is not known", mic)
			}
			compareWithOracle(t, exchange, readOracle(t, file), different)
		})
	}
	if len(oracleFiles(t)) != 38 {
		t.Errorf("%d oracle files, want 38", len(oracleFiles(t)))
	}
}

func compareWithOracle(t *testing.T, exchange *calendar.Exchange, oracle map[calendar.Date]string, different map[string]bool) {
	t.Helper()
	for _, date := range sortedDates(oracle) {
		want := oracle[date]
		got := inUTC(exchange, date)
		day := exchange.MIC + " " + date.String()
		switch {
		case !exchange.Known(date):
			if !different[exchange.MIC+" "+date.String()[:4]] {
				t.Errorf("%s is not known to the calendar, and the year is not in DIFFERENCES.md", day)
			}
		case different[day] && got == want:
			t.Errorf("%s is in DIFFERENCES.md, and equals the oracle: %q", day, got)
		case !different[day] && got != want:
			t.Errorf("%s: got %q, oracle says %q", day, got, want)
		}
	}
}

// inUTC writes a session as the oracle does: open, close, break start and end.
func inUTC(e *calendar.Exchange, d calendar.Date) string {
	s, ok := e.Session(d)
	if !ok {
		return ""
	}
	times := []calendar.Minute{s.Open, s.Close}
	for _, b := range s.Breaks {
		times = append(times, b.Start, b.End)
	}
	words := make([]string, len(times))
	for i, m := range times {
		hour, minute := m.Clock()
		at := time.Date(d.Year, d.Month, d.Day+m.DayOffset(), hour, minute, 0, 0, e.Location).UTC()
		words[i] = at.Format("15:04")
		if off := d.DaysUntil(calendar.DateOf(at)); off != 0 {
			words[i] += fmt.Sprintf("%+d", off)
		}
	}
	return strings.Join(words, " ")
}

// readOracle returns what the oracle says of each date of the months it covers;
// empty is no session. testdata/oracle/README.md explains the form.
func readOracle(t *testing.T, file string) map[calendar.Date]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	hours := map[byte]string{'.': ""}
	out := map[calendar.Date]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, rest, _ := strings.Cut(lines.Text(), " ")
		if key == "hours" {
			letter, times, _ := strings.Cut(rest, " ")
			hours[letter[0]] = times
			continue
		}
		first, err := calendar.ParseDate(key + "-01")
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range len(rest) {
			out[first.AddDays(i)] = hours[rest[i]]
		}
	}
	return out
}

var differenceLine = regexp.MustCompile(`^\| ([A-Z]{4}) \| (\d{4}(?:-\d\d-\d\d)?) \|`)

// differences returns the days, and the whole years, that DIFFERENCES.md lists,
// each as "MIC date".
func differences(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("DIFFERENCES.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if m := differenceLine.FindStringSubmatch(line); m != nil {
			out[m[1]+" "+m[2]] = true
		}
	}
	return out
}

func oracleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/oracle/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sortedDates(m map[calendar.Date]string) []calendar.Date {
	var first, last calendar.Date
	for d := range m {
		if first.IsZero() || d.Before(first) {
			first = d
		}
		if last.Before(d) {
			last = d
		}
	}
	out := make([]calendar.Date, 0, len(m))
	for d := first; !last.Before(d); d = d.AddDays(1) {
		out = append(out, d)
	}
	return out
}

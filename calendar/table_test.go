// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"strings"
	"testing"
)

func TestATableRefusesWhatItCannotRead(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"2026-02-30 A day", `"2026-02-30" is not a date`},
		{"2026-02-20", "2026-02-20 has no name"},
		{"2026-02-20 close=25:00 A day", `"25:00" is not a time`},
		{"2026-02-20 close=9:00 A day", `"9:00" is not a time`},
		{"2026-02-20 session=09:00 A day", `"" is not a time`},
		{"known 2026-01-01", `"" is not a date`},
		{"holiday 2026-01-01", `"holiday" is not a date`},
	} {
		var into table
		if err := into.add(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want an error with %q", c.line, err, c.want)
		}
	}
}

func TestEveryTableIsRead(t *testing.T) {
	files, err := tables.ReadDir("tables")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		mic := strings.TrimSuffix(f.Name(), ".txt")
		got, err := readTable(mic)
		if err != nil {
			t.Error(err)
		}
		days := map[Date]bool{}
		for _, c := range got.closures {
			if days[c.date] {
				t.Errorf("%s names %s twice", mic, c.date)
			}
			days[c.date] = true
			if _, trades := usualHours(&exchanges[mic].def, c.date); !trades {
				t.Errorf("%s %s (%s) is closed anyway", mic, c.date, c.name)
			}
		}
	}
}

func TestMinutesReadLikeAClock(t *testing.T) {
	for m, want := range map[Minute]string{
		clock(9, 30): "09:30", clock(0, 0): "00:00", clock(24, 0): "00:00+1", eve(17): "17:00-1", eve(0): "00:00-1",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d reads %q, want %q", int(m), got, want)
		}
	}
}

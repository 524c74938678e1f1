// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/calendar"
)

func TestDatesCountLikeTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.IntRange(-400, 4000).Draw(t, "year")
		m := time.Month(rapid.IntRange(-20, 30).Draw(t, "month"))
		day := rapid.IntRange(-500, 500).Draw(t, "day")
		n := rapid.IntRange(-100_000, 100_000).Draw(t, "days")

		want := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
		got := calendar.NewDate(y, m, day)
		if got != calendar.DateOf(want) || got.Weekday() != want.Weekday() {
			t.Fatalf("got %s, a %s; want %s, a %s", got, got.Weekday(), want, want.Weekday())
		}
		later := got.AddDays(n)
		if later != calendar.DateOf(want.AddDate(0, 0, n)) || got.DaysUntil(later) != n || got.Before(later) != (n > 0) {
			t.Fatalf("%s and %d days: %s", got, n, later)
		}
	})
}

func TestOnlyOneSpellingOfADate(t *testing.T) {
	for s, want := range map[string]bool{
		"2028-02-29": true, "2027-02-29": false, "2026-6-01": false, "2026-12-25T00:00:00Z": false,
		"": false, "2026-13-01": false, "2026-00-10": false, "2026-01-01x": false, "20260101": false,
	} {
		d, err := calendar.ParseDate(s)
		if (err == nil) != want || (want && d.String() != s) {
			t.Errorf("ParseDate(%q) = %s, %v", s, d, err)
		}
	}
}

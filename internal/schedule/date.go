// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"time"
)

// Date is a day of the proleptic Gregorian calendar, without a zone: the number
// of days since 1970-01-01. Arithmetic on it never lands on a day that a zone
// left out, which is why nothing in this package adds days to a time.Time.
type Date int32

const (
	// MinDate and MaxDate bound the dates that the package looks at.
	MinDate Date = -1 << 24
	MaxDate Date = 1 << 24
)

const (
	secondsPerMinute = 60
	secondsPerDay    = 24 * 60 * secondsPerMinute
	minutesPerDay    = 24 * 60
	daysPerWeek      = 7
)

// NewDate returns the date for a year, month and day. A day past the end of its
// month runs on into the next, as with time.Date.
func NewDate(year int, month time.Month, day int) Date {
	return Date(floorDiv(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix(), secondsPerDay))
}

// ParseDate reads a date spelled YYYY-MM-DD (ISO 8601) and nothing else. It
// returns a *FieldError without a path for any other text, and for a day that
// its month does not have.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, refuse(text, "a date that exists, spelled YYYY-MM-DD, such as 2026-12-25")
	}
	return Date(floorDiv(t.Unix(), secondsPerDay)), nil
}

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday {
	return time.Weekday(floorMod(int64(d)+int64(time.Thursday), daysPerWeek))
}

// Civil returns the year, month and day.
func (d Date) Civil() (year int, month time.Month, day int) {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
}

// String returns the date as YYYY-MM-DD.
func (d Date) String() string {
	year, month, day := d.Civil()
	return fmt.Sprintf("%04d-%02d-%02d", year, month, day)
}

// local returns the reading of a wall clock that shows midnight at the start of
// the date, in seconds since it showed 1970-01-01 00:00.
func (d Date) local() int64 { return int64(d) * secondsPerDay }

// dateOfLocal returns the date that a wall clock shows.
func dateOfLocal(local int64) Date { return Date(floorDiv(local, secondsPerDay)) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

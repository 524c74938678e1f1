// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"fmt"
	"time"
)

// Date is a day of the proleptic Gregorian calendar, in no time zone. The zero
// Date is no day at all. Dates compare with ==.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// NewDate returns the date y-m-d; a day or month out of range is carried over,
// as [time.Date] does.
func NewDate(y int, m time.Month, d int) Date {
	return fromDays(daysBefore(y, int(m)) + d - 1)
}

// ParseDate reads YYYY-MM-DD, and nothing else. The error quotes what it read.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || len(s) != len(time.DateOnly) {
		return Date{}, fmt.Errorf("%q is not a date in the form YYYY-MM-DD", s)
	}
	return DateOf(t), nil
}

// DateOf returns the date that t shows in its own location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// String returns the date as YYYY-MM-DD.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// IsZero reports whether d is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// AddDays returns the date n days later, or earlier where n is negative.
func (d Date) AddDays(n int) Date { return fromDays(d.days() + n) }

// DaysUntil returns how many days later o is than d.
func (d Date) DaysUntil(o Date) int { return o.days() - d.days() }

// Before reports whether d comes before o.
func (d Date) Before(o Date) bool {
	if d.Year != o.Year {
		return d.Year < o.Year
	}
	if d.Month != o.Month {
		return d.Month < o.Month
	}
	return d.Day < o.Day
}

// Weekday returns the day of the week.
func (d Date) Weekday() time.Weekday {
	// 1970-01-01 was a Thursday.
	return time.Weekday(((d.days()+int(time.Thursday))%7 + 7) % 7)
}

// yearDay returns 0 for 1 January.
func (d Date) yearDay() int { return d.days() - daysBefore(d.Year, 1) }

// days counts the days since 1970-01-01.
func (d Date) days() int { return daysBefore(d.Year, int(d.Month)) + d.Day - 1 }

// daysBefore counts the days from 1970-01-01 to the first of a month. The year
// is taken to begin in March, so that the leap day comes last.
func daysBefore(year, month int) int {
	year += floorDiv(month-1, 12)
	month -= 12 * floorDiv(month-1, 12)
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) +
		(153*(month-3)+2)/5 - 719468
}

// fromDays is the inverse of days.
func fromDays(n int) Date {
	n += 719468
	era := floorDiv(n, 146097)
	day := n - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	day -= (153*month + 2) / 5
	year += era * 400
	if month >= 10 {
		return Date{year + 1, time.Month(month - 9), day + 1}
	}
	return Date{year, time.Month(month + 3), day + 1}
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

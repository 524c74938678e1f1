// SPDX-License-Identifier: Apache-2.0

package calendar

import "fmt"

const minutesPerDay = 24 * 60

// Minute is a stated local time of a session, counted in minutes from the
// midnight that begins its trading date: 570 is 09:30, -420 is 17:00 on the day
// before, 1440 the midnight that ends the date. It is what the wall clock shows,
// not a length of time: it means the same on a day with 23 hours.
type Minute int

// clock returns the Minute of hh:mm on the trading date itself.
func clock(hour, minute int) Minute { return Minute(60*hour + minute) }

// eve returns the Minute of a full hour on the day before the trading date.
func eve(hour int) Minute { return clock(hour, 0) - minutesPerDay }

// DayOffset returns on which date the wall clock shows m: 0 for the trading date,
// -1 for the day before, 1 for the day after.
func (m Minute) DayOffset() int { return floorDiv(int(m), minutesPerDay) }

// Clock returns the hour, 0 to 23, and the minute that the wall clock shows.
func (m Minute) Clock() (hour, minute int) {
	of := int(m) - m.DayOffset()*minutesPerDay
	return of / 60, of % 60
}

// String returns HH:MM, followed by the day offset where there is one: "09:30",
// "17:00-1".
func (m Minute) String() string {
	hour, minute := m.Clock()
	if off := m.DayOffset(); off != 0 {
		return fmt.Sprintf("%02d:%02d%+d", hour, minute, off)
	}
	return fmt.Sprintf("%02d:%02d", hour, minute)
}

// parseMinute reads HH:MM of the trading date, up to 24:00.
func parseMinute(s string) (Minute, error) {
	var h, m int
	if n, err := fmt.Sscanf(s, "%2d:%2d", &h, &m); n != 2 || err != nil || len(s) != 5 ||
		h < 0 || m < 0 || m > 59 || clock(h, m) > minutesPerDay {
		return 0, fmt.Errorf("%q is not a time in the form HH:MM", s)
	}
	return clock(h, m), nil
}

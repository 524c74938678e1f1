// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	wantDay  = "a weekday mon, tue, wed, thu, fri, sat or sun, or a range of them such as mon-fri"
	wantHour = "an hour 0 to 23, or a range of them with both ends included such as 9-17"
)

// ParseDays reads a list of weekdays: each item is a weekday mon to sun in lower
// case, a range such as mon-fri with both ends included, which may run over the
// end of the week (fri-mon), or several of those with commas between. Blanks
// around a part are ignored. An empty list is the empty set.
//
// Errors are *FieldError with the index of the item as path, all of them joined.
func ParseDays(items []string) (Days, error) {
	var days Days
	err := eachPart(items, wantDay, func(part string) bool {
		first, last, ok := parseRange(part, parseWeekday)
		for i := range ring(first, last, daysPerWeek, ok) {
			days = days.With(time.Weekday((first + i) % daysPerWeek))
		}
		return ok
	})
	if err != nil {
		return 0, err
	}
	return days, nil
}

// ParseHours reads a list of hours of the day: each item is an hour 0 to 23, a
// range such as 9-17 with both ends included (09:00 until 18:00), which may run
// over midnight (22-6), or several of those with commas between. Blanks around a
// part are ignored. An empty list is the empty set.
//
// Errors are *FieldError with the index of the item as path, all of them joined.
func ParseHours(items []string) (Hours, error) {
	var hours Hours
	err := eachPart(items, wantHour, func(part string) bool {
		first, last, ok := parseRange(part, parseHour)
		for i := range ring(first, last, 24, ok) {
			hours = hours.With((first + i) % 24)
		}
		return ok
	})
	if err != nil {
		return 0, err
	}
	return hours, nil
}

// eachPart calls parse for each part between commas of each item.
func eachPart(items []string, want string, parse func(part string) bool) error {
	var errs []error
	for i, item := range items {
		for part := range strings.SplitSeq(item, ",") {
			if !parse(strings.TrimSpace(part)) {
				errs = append(errs, Refuse(fmt.Sprintf("[%d]", i), item, want))
				break
			}
		}
	}
	return errors.Join(errs...)
}

func parseRange(part string, parse func(string) (int, bool)) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(part, "-")
	if first, ok = parse(strings.TrimSpace(from)); !ok || !ranged {
		return first, first, ok
	}
	last, ok = parse(strings.TrimSpace(to))
	return first, last, ok
}

// ring returns how many members a range on a ring of a size has; none unless ok.
func ring(first, last, size int, ok bool) int {
	if !ok {
		return 0
	}
	return (last-first+size)%size + 1
}

func parseWeekday(text string) (int, bool) {
	for day, name := range [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} {
		if text == name {
			return day, true
		}
	}
	return 0, false
}

// parseHour takes what upstream does: a plus sign and leading zeros too.
func parseHour(text string) (int, bool) {
	digits := strings.TrimPrefix(text, "+")
	if digits == "" {
		return 0, false
	}
	digits = strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:]
	return parseDigits(digits, 23)
}

// parseDigits reads one or two digits and nothing else.
func parseDigits(text string, most int) (int, bool) {
	if text == "" || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.Atoi(text)
	return number, err == nil && number <= most
}

// ParseClock reads a time of day HH:MM, 00:00 to 23:59, or 24:00 for the end of
// the day, as minutes after midnight. Errors are *FieldError without a path.
func ParseClock(text string) (minutes int, err error) {
	hour, minute, _ := strings.Cut(text, ":")
	h, okHour := parseDigits(hour, 24)
	m, okMinute := parseDigits(minute, 59)
	if len(text) != len("HH:MM") || !okHour || !okMinute || h == 24 && m > 0 {
		return 0, refuse(text, "a time of day HH:MM from 00:00 to 24:00, such as 09:30")
	}
	return h*60 + m, nil
}

// ParseWindow reads a start and an end as [ParseClock] does. An end at or before
// the start is on the next date; 24:00 is the end of the date itself. A window
// that would end as it starts is refused: it might mean never or all day.
//
// Errors are *FieldError with path start or end.
func ParseWindow(start, end string) (Session, error) {
	open, errStart := ParseClock(start)
	shut, errEnd := ParseClock(end)
	if errStart == nil && open == minutesPerDay {
		errStart = refuse(start, "a time of day HH:MM from 00:00 to 23:59; for midnight write 00:00 on the next day")
	}
	if err := errors.Join(Under("start", errStart), Under("end", errEnd)); err != nil {
		return Session{}, err
	}
	if open == shut {
		return Session{}, Refuse("end", end, "different from start; for the whole day write start 00:00 and end 24:00")
	}
	if shut < open {
		shut += minutesPerDay
	}
	return Session{Open: open, Close: shut}, nil
}

// ParseInstant reads an instant as RFC 3339 has it, with whole seconds. Errors
// are *FieldError without a path.
func ParseInstant(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Nanosecond() != 0 {
		return time.Time{}, refuse(text, "an instant in RFC 3339 with whole seconds, such as 2026-12-24T18:00:00Z")
	}
	return t.UTC(), nil
}

// ParseDates reads a list of dates as [ParseDate] does. Errors are *FieldError
// with the index of the item as path, all of them joined.
func ParseDates(items []string) ([]Date, error) {
	var errs []error
	dates := make([]Date, 0, len(items))
	for i, item := range items {
		date, err := ParseDate(item)
		if err != nil {
			errs = append(errs, Under(fmt.Sprintf("[%d]", i), err))
		}
		dates = append(dates, date)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return dates, nil
}

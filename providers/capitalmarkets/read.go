// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/calendar"
	"github.com/fivespot/fivespot/internal/schedule"
)

const (
	minutesPerHour = 60
	minutesPerDay  = 24 * minutesPerHour
	longestMargin  = 168 * time.Hour
)

// parts are the fields of a spec, read one by one.
type parts struct {
	exchange *calendar.Exchange
	// exchangeZone is the zone of the exchange, zone that of the spec's own times.
	exchangeZone, zone *schedule.Zone
	// hours are the sessions given by hoursOfDay, minutes those by open and close.
	hours, minutes schedule.Week
	days           days
	special        map[schedule.Date][]schedule.Session
	lead, lag      time.Duration
	bridge         time.Duration
}

// readSpec reads every field, and tells of every fault at once.
func readSpec(spec *v1alpha1.CapitalMarketsScheduleSpec) (*parts, error) {
	p := &parts{days: days{}, special: map[schedule.Date][]schedule.Session{}}
	err := errors.Join(
		p.readExchange(spec.Exchange),
		p.readZone(spec.Timezone),
		each("sessions", spec.Sessions, p.readSession),
		p.readHolidays(spec.Holidays),
		each("earlyCloses", spec.EarlyCloses, p.readEarlyClose),
		each("lateOpens", spec.LateOpens, p.readLateOpen),
		each("specialSessions", spec.SpecialSessions, p.readSpecialSession),
		readMargin("leadTime", spec.LeadTime, &p.lead),
		readMargin("lagTime", spec.LagTime, &p.lag),
		readMargin("bridgeGaps", spec.BridgeGaps, &p.bridge),
	)
	return p, schedule.Under("spec", err)
}

// each reads the items of a list.
func each[T any](path string, items []T, read func(T) error) error {
	var errs []error
	for i := range items {
		errs = append(errs, schedule.Under(fmt.Sprintf("%s[%d]", path, i), read(items[i])))
	}
	return errors.Join(errs...)
}

func (p *parts) readExchange(mic string) error {
	if mic == "" {
		return nil
	}
	exchange, ok := calendar.Lookup(mic)
	if !ok {
		return schedule.Refuse("exchange", mic, "the MIC of an exchange that is known here: "+strings.Join(calendar.MICs(), ", "))
	}
	zone, err := schedule.LoadZone(exchange.Location.String())
	if err != nil {
		return fmt.Errorf("the zone of %s: %w", mic, err)
	}
	p.exchange, p.exchangeZone = exchange, zone
	return nil
}

// readZone comes after readExchange, whose zone is the default.
func (p *parts) readZone(name *string) (err error) {
	switch {
	case name != nil:
		p.zone, err = schedule.LoadZone(*name)
	case p.exchangeZone != nil:
		p.zone = p.exchangeZone
	default:
		p.zone = schedule.UTC()
	}
	return schedule.Under("timezone", err)
}

func (p *parts) readSession(s v1alpha1.TradingSession) error {
	weekdays, err := schedule.ParseDays(s.DaysOfWeek)
	err = schedule.Under("daysOfWeek", err)
	if s.Open == "" && s.Close == "" {
		if s.OpenDayOffset != nil {
			err = errors.Join(err, schedule.Refuse("openDayOffset", strconv.Itoa(int(*s.OpenDayOffset)), "of use without open and close"))
		}
		hours, errHours := schedule.ParseHours(s.HoursOfDay)
		add(&p.hours, weekdays, hours.Sessions()...)
		return errors.Join(err, schedule.Under("hoursOfDay", errHours))
	}
	if len(s.HoursOfDay) > 0 {
		err = errors.Join(err, schedule.Refuse("hoursOfDay", strings.Join(s.HoursOfDay, ","), "of use beside open and close; make it a session of its own"))
	}
	if len(s.DaysOfWeek) == 0 {
		err = errors.Join(err, schedule.Refuse("daysOfWeek", "[]", "a list of at least one weekday, such as [mon-fri]"))
	}
	session, errTimes := readTimes(s.Open, s.Close, s.OpenDayOffset)
	add(&p.minutes, weekdays, session)
	return errors.Join(err, errTimes)
}

// add adds sessions to some days of a week.
func add(week *schedule.Week, weekdays schedule.Days, sessions ...schedule.Session) {
	for weekday := range week {
		if weekdays.Has(time.Weekday(weekday)) {
			week[weekday] = append(week[weekday], sessions...)
		}
	}
}

// readTimes reads open and close. Without an offset, a close before the open is
// on the day after.
func readTimes(open, closing string, offset *int32) (schedule.Session, error) {
	from, errOpen := readOpen(open)
	until, errClose := schedule.ParseClock(closing)
	err := errors.Join(errOpen, schedule.Under("close", errClose))
	if err != nil {
		return schedule.Session{}, err
	}
	switch {
	case offset != nil && *offset == -1:
		from -= minutesPerDay
		if until-from > minutesPerDay {
			return schedule.Session{}, schedule.Refuse("close", closing, "at most a day after open, which is "+open+" on the day before")
		}
	case offset != nil && *offset != 0:
		return schedule.Session{}, schedule.Refuse("openDayOffset", strconv.Itoa(int(*offset)), "-1 or 0")
	case from == until:
		return schedule.Session{}, schedule.Refuse("close", closing, "different from open; for the whole day write open 00:00 and close 24:00")
	case until < from:
		until += minutesPerDay
	}
	return schedule.Session{Open: from, Close: until}, nil
}

func readOpen(open string) (int, error) {
	from, err := schedule.ParseClock(open)
	if err == nil && from == minutesPerDay {
		err = schedule.Refuse("", open, "a time of day HH:MM from 00:00 to 23:59; for midnight write 00:00 on the next day")
	}
	return from, schedule.Under("open", err)
}

func (p *parts) readHolidays(items []string) error {
	dates, err := schedule.ParseDates(items)
	for _, date := range dates {
		p.days.change(date, func(d *day) { d.closed = true })
	}
	return schedule.Under("holidays", err)
}

func (p *parts) readEarlyClose(e v1alpha1.EarlyClose) error {
	date, errDate := schedule.ParseDate(e.Date)
	minute, errTime := readEarlyTime(e)
	err := errors.Join(schedule.Under("date", errDate), errTime)
	if err == nil {
		p.days.change(date, func(d *day) { d.close = min(d.close, minute) })
	}
	return err
}

// readEarlyTime returns the minute of the date from which there is no session.
func readEarlyTime(e v1alpha1.EarlyClose) (int, error) {
	switch {
	case (e.CloseHour != nil) == (e.Close != ""):
		return 0, schedule.Refuse("close", e.Close, "given without closeHour, or closeHour without it: give one of the two")
	case e.CloseHour == nil:
		minute, err := schedule.ParseClock(e.Close)
		return minute, schedule.Under("close", err)
	case *e.CloseHour < 0 || *e.CloseHour > 23:
		return 0, schedule.Refuse("closeHour", strconv.Itoa(int(*e.CloseHour)), "an hour 0 to 23")
	}
	return (int(*e.CloseHour) + 1) * minutesPerHour, nil // the hour is part of the session
}

func (p *parts) readLateOpen(l v1alpha1.LateOpen) error {
	date, errDate := schedule.ParseDate(l.Date)
	minute, errTime := readOpen(l.Open)
	err := errors.Join(schedule.Under("date", errDate), errTime)
	if err == nil {
		p.days.change(date, func(d *day) { d.open = max(d.open, minute) })
	}
	return err
}

func (p *parts) readSpecialSession(s v1alpha1.SpecialSession) error {
	date, errDate := schedule.ParseDate(s.Date)
	session, errTimes := readTimes(s.Open, s.Close, nil)
	err := errors.Join(schedule.Under("date", errDate), errTimes)
	if err == nil {
		p.special[date] = append(p.special[date], session)
	}
	return err
}

// readMargin reads a whole number of s, m or h.
func readMargin(path string, margin v1alpha1.SessionMargin, into *time.Duration) error {
	text := string(margin)
	if text == "" {
		return nil
	}
	const want = "a whole number followed by s, m or h and at most 168h, such as 30m"
	unit, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour}[text[len(text)-1]]
	number, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if !ok || err != nil || time.Duration(number) > longestMargin/unit {
		return schedule.Refuse(path, text, want)
	}
	*into = time.Duration(number) * unit
	return nil
}

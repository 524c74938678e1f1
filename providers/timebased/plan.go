// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"errors"
	"fmt"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
)

// Reasons of the Ready condition.
const (
	// ReasonWindowOpen: the schedule is active.
	ReasonWindowOpen = "WindowOpen"
	// ReasonWindowClosed: the schedule is not active.
	ReasonWindowClosed = "WindowClosed"
)

// Plan is a spec that has been read and found good.
type Plan struct {
	zone     *schedule.Zone
	schedule *schedule.Schedule
	enabled  bool
}

// Answer is what a plan says for an instant.
type Answer struct {
	// Active is whether the schedule is active.
	Active bool
	// Until is when that changes next; zero when it never does.
	Until time.Time
	// Reason is one of the Reason constants.
	Reason string
	// Message says the same for people, with the next change in local time.
	Message string
}

// NewPlan reads a spec. The error tells everything that is wrong with it: a tree
// of *schedule.FieldError with paths that begin with "spec.".
func NewPlan(spec *v1alpha1.TimeBasedSpotScheduleSpec) (*Plan, error) {
	zone, errZone := readZone(spec.Timezone)
	week, errWeek := readWeek(spec)
	windows, errWindows := readWindows(spec.Windows)
	except, errExcept := schedule.ParseDates(spec.ExceptDates)
	once, errOnce := readOnce(spec.Once)
	err := schedule.Under("spec", errors.Join(errZone, errWeek, errWindows,
		schedule.Under("exceptDates", errExcept), errOnce))
	if err != nil {
		return nil, err
	}
	plan := &Plan{zone: zone, enabled: spec.Enabled == nil || *spec.Enabled}
	if !plan.enabled {
		plan.schedule = schedule.New()
		return plan, nil
	}
	none := make(map[schedule.Date][]schedule.Session, len(except))
	for _, date := range except {
		none[date] = nil
	}
	plan.schedule = schedule.New(
		schedule.WallClock(zone, schedule.NewWeekly(week, none)),
		schedule.Sessions(zone, schedule.NewWeekly(windows, none)),
		schedule.Once(once...),
	)
	return plan, nil
}

func readZone(name *string) (*schedule.Zone, error) {
	if name == nil {
		return schedule.UTC(), nil
	}
	zone, err := schedule.LoadZone(*name)
	return zone, schedule.Under("timezone", err)
}

// readWeek reads daysOfWeek and hoursOfDay.
func readWeek(spec *v1alpha1.TimeBasedSpotScheduleSpec) (schedule.Week, error) {
	days, errDays := schedule.ParseDays(spec.DaysOfWeek)
	hours, errHours := schedule.ParseHours(spec.HoursOfDay)
	return days.On(hours.Sessions()), errors.Join(
		schedule.Under("daysOfWeek", errDays), schedule.Under("hoursOfDay", errHours))
}

func readWindows(windows []v1alpha1.TimeWindow) (schedule.Week, error) {
	var week schedule.Week
	var errs []error
	for i, window := range windows {
		days, errDays := schedule.ParseDays(window.Days)
		if len(window.Days) == 0 {
			errDays = schedule.Refuse("", "[]", "a list of at least one weekday, such as [mon-fri]")
		}
		session, errTimes := schedule.ParseWindow(window.Start, window.End)
		errs = append(errs, schedule.Under(fmt.Sprintf("windows[%d]", i),
			errors.Join(schedule.Under("days", errDays), errTimes)))
		for day := range week {
			if days.Has(time.Weekday(day)) {
				week[day] = append(week[day], session)
			}
		}
	}
	return week, errors.Join(errs...)
}

func readOnce(intervals []v1alpha1.TimeInterval) ([]schedule.Interval, error) {
	list := make([]schedule.Interval, 0, len(intervals))
	var errs []error
	for i, interval := range intervals {
		start, errStart := schedule.ParseInstant(interval.Start)
		end, errEnd := schedule.ParseInstant(interval.End)
		err := errors.Join(schedule.Under("start", errStart), schedule.Under("end", errEnd))
		if err == nil && !start.Before(end) {
			err = schedule.Refuse("end", interval.End, "later than start, which is "+interval.Start)
		}
		errs = append(errs, schedule.Under(fmt.Sprintf("once[%d]", i), err))
		list = append(list, schedule.Interval{Start: start, End: end})
	}
	return list, errors.Join(errs...)
}

// Zone returns the time zone of the spec.
func (p *Plan) Zone() *schedule.Zone { return p.zone }

// Schedule returns when the plan is active.
func (p *Plan) Schedule() *schedule.Schedule { return p.schedule }

// At returns the answer for an instant.
func (p *Plan) At(now time.Time) Answer {
	answer := Answer{Active: p.schedule.Active(now), Reason: ReasonWindowClosed}
	if answer.Active {
		answer.Reason = ReasonWindowOpen
	}
	next, changes := p.schedule.NextChange(now)
	if changes {
		answer.Until = next
	}
	switch {
	case !p.enabled:
		answer.Message = "switched off: spec.enabled is false"
	case answer.Active && changes:
		answer.Message = "open; closes " + p.zone.Format(next)
	case answer.Active:
		answer.Message = "open, and never closes"
	case changes:
		answer.Message = "closed; opens " + p.zone.Format(next)
	default:
		answer.Message = "closed, and never opens again"
	}
	return answer
}

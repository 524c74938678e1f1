// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/providers/timebased"
)

func (r *reporter) timeBased(spec *v1alpha1.TimeBasedSpotScheduleSpec) {
	plan, err := timebased.NewPlan(spec)
	if err != nil {
		r.fail("spec", "%v", err)
		return
	}
	r.zone(spec.Timezone)
	r.week(spec)
	for i, window := range spec.Windows {
		path := fmt.Sprintf("spec.windows[%d]", i)
		r.minuteShort(path+".end", window.End)
		r.ifNever(path, spec, &v1alpha1.TimeBasedSpotScheduleSpec{Windows: []v1alpha1.TimeWindow{window}, ExceptDates: spec.ExceptDates})
	}
	r.exceptDates(plan.Zone(), spec.ExceptDates)
	for i, interval := range spec.Once {
		path := fmt.Sprintf("spec.once[%d]", i)
		if end, err := schedule.ParseInstant(interval.End); err == nil && !end.After(r.now) {
			r.warn(path+".end", "is past")
		}
	}
	enabled := spec.Enabled == nil || *spec.Enabled
	if enabled && len(r.found) == 0 && !r.opens(plan.Schedule()) {
		r.warn("spec", "the schedule is never active")
	}
}

// week looks at daysOfWeek and hoursOfDay, of which each is nothing without the
// other.
func (r *reporter) week(spec *v1alpha1.TimeBasedSpotScheduleSpec) {
	days, errDays := schedule.ParseDays(spec.DaysOfWeek)
	hours, errHours := schedule.ParseHours(spec.HoursOfDay)
	if errDays != nil || errHours != nil {
		return // Checked before.
	}
	switch {
	case days == 0 && hours != 0:
		r.fail("spec.daysOfWeek", "is empty, so that hoursOfDay never applies; list weekdays, such as [mon-sun]")
	case days != 0 && hours == 0:
		r.fail("spec.hoursOfDay", `is empty, so that daysOfWeek never applies; list hours, such as ["0-23"]`)
	default:
		r.overnightHours("spec.hoursOfDay", spec.HoursOfDay, days)
	}
}

// ifNever warns when a part of a spec, taken alone, is never active.
func (r *reporter) ifNever(path string, spec, part *v1alpha1.TimeBasedSpotScheduleSpec) {
	part.Timezone = spec.Timezone
	plan, err := timebased.NewPlan(part)
	if err == nil && !r.opens(plan.Schedule()) {
		r.warn(path, "the window never opens")
	}
}

func (r *reporter) exceptDates(zone *schedule.Zone, dates []string) {
	paths := make([]string, len(dates))
	for i := range dates {
		paths[i] = fmt.Sprintf("spec.exceptDates[%d]", i)
	}
	r.past(zone, paths, dates)
}

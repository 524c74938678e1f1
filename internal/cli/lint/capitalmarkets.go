// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/providers/capitalmarkets"
)

// notice is how long ahead the end of a calendar is told, here as in the status.
const notice = 60 * 24 * time.Hour

func (r *reporter) capitalMarkets(spec *v1alpha1.CapitalMarketsScheduleSpec) {
	plan, err := capitalmarkets.NewPlan(spec)
	if err != nil {
		r.fail("spec", "%v", err)
		return
	}
	r.zone(spec.Timezone)
	for i, session := range spec.Sessions {
		path := fmt.Sprintf("spec.sessions[%d]", i)
		r.minuteShort(path+".close", session.Close)
		days, err := schedule.ParseDays(session.DaysOfWeek)
		if err != nil {
			continue // Checked before.
		}
		if days == 0 {
			r.fail(path+".daysOfWeek", "is empty, so that the session never opens; list weekdays, such as [mon-fri]")
		}
		r.overnightHours(path+".hoursOfDay", session.HoursOfDay, days)
	}
	r.marketDates(plan.Zone(), spec)
	if !plan.Known(r.now) {
		r.warn("spec.exchange", "%s", plan.At(r.now).Message)
		return
	}
	if until, last, ends := plan.KnownUntil(); ends && until.Sub(r.now) < notice {
		r.warn("spec.exchange", "the calendar of %s ends on %s; a newer version of 5-Spot may know more", spec.Exchange, last)
	}
	if len(r.found) == 0 && !r.opens(plan.Schedule()) {
		r.warn("spec", "the schedule is never active")
	}
}

// marketDates looks at the lists of dates.
func (r *reporter) marketDates(zone *schedule.Zone, spec *v1alpha1.CapitalMarketsScheduleSpec) {
	var paths, dates []string
	add := func(path, date string) {
		paths, dates = append(paths, path), append(dates, date)
	}
	flush := func() {
		r.past(zone, paths, dates)
		paths, dates = nil, nil
	}
	for i, date := range spec.Holidays {
		add(fmt.Sprintf("spec.holidays[%d]", i), date)
	}
	flush()
	for i, early := range spec.EarlyCloses {
		path := fmt.Sprintf("spec.earlyCloses[%d]", i)
		r.minuteShort(path+".close", early.Close)
		add(path+".date", early.Date)
	}
	flush()
	for i, late := range spec.LateOpens {
		add(fmt.Sprintf("spec.lateOpens[%d].date", i), late.Date)
	}
	flush()
	for i, special := range spec.SpecialSessions {
		path := fmt.Sprintf("spec.specialSessions[%d]", i)
		r.minuteShort(path+".close", special.Close)
		add(path+".date", special.Date)
	}
	flush()
}

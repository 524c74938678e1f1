// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/schedule"
)

func parse(tb testing.TB, spec string) *v1alpha1.CapitalMarketsScheduleSpec {
	tb.Helper()
	var parsed v1alpha1.CapitalMarketsScheduleSpec
	if err := yaml.UnmarshalStrict([]byte(spec), &parsed); err != nil {
		tb.Fatal(err)
	}
	return &parsed
}

func mustPlan(tb testing.TB, spec string) *Plan {
	tb.Helper()
	plan, err := NewPlan(parse(tb, spec))
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

func instant(tb testing.TB, text string) time.Time {
	tb.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// A timeline is an instant, the state there, and the changes that follow.
type timeline struct {
	spec    string
	from    string
	active  bool
	changes []string // in order; "" as the last says that no more follow
}

const (
	newYork  = `{timezone: America/New_York, sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}]}`
	hongKong = `timezone: Asia/Hong_Kong, sessions: [` +
		`{daysOfWeek: [mon-fri], open: "09:30", close: "12:00"}, {daysOfWeek: [mon-fri], open: "13:00", close: "16:00"}]`
)

var timelines = map[string]timeline{
	"a session to the minute": {
		spec:    newYork,
		from:    "2026-06-15T00:00:00Z",
		changes: []string{"2026-06-15T13:30:00Z", "2026-06-15T20:00:00Z", "2026-06-16T13:30:00Z"},
	},
	"at the opening the next change is the close": {
		spec: newYork, from: "2026-06-15T13:30:00Z", active: true, changes: []string{"2026-06-15T20:00:00Z"},
	},
	"at the close the next change is the opening": {
		spec: newYork, from: "2026-06-15T20:00:00Z", changes: []string{"2026-06-16T13:30:00Z"},
	},
	"a holiday closes the local date of sessions given by hours": {
		spec: `{timezone: America/New_York, holidays: ["2026-12-25"], sessions: [
			{daysOfWeek: [mon-sun], hoursOfDay: ["18-23"]}, {daysOfWeek: [mon-sun], hoursOfDay: ["0-16"]}]}`,
		from:   "2026-12-23T23:30:00Z",
		active: true,
		changes: []string{
			"2026-12-24T22:00:00Z", "2026-12-24T23:00:00Z", "2026-12-25T05:00:00Z", "2026-12-26T05:00:00Z",
		},
	},
	"a holiday closes the trading date of a session given by open and close, evening before included": {
		spec: `{timezone: America/New_York, holidays: ["2026-12-25"], sessions: [
			{daysOfWeek: [mon-sun], open: "18:00", close: "17:00", openDayOffset: -1}]}`,
		from:    "2026-12-23T23:30:00Z",
		active:  true,
		changes: []string{"2026-12-24T22:00:00Z", "2026-12-25T23:00:00Z", "2026-12-26T22:00:00Z"},
	},
	"a closure that is added in mid-session": {
		spec: `{` + hongKong + `, holidays: ["2026-09-01"]}`,
		from: "2026-09-01T02:10:00Z", changes: []string{"2026-09-02T01:30:00Z"},
	},
	"a closure that is removed in mid-session": {
		spec: `{` + hongKong + `}`,
		from: "2026-09-01T03:00:00Z", active: true, changes: []string{"2026-09-01T04:00:00Z", "2026-09-01T05:00:00Z"},
	},
	"a close at 24:00": {
		spec: `{sessions: [{daysOfWeek: [mon], open: "12:00", close: "24:00"}]}`,
		from: "2026-06-15T13:00:00Z", active: true, changes: []string{"2026-06-16T00:00:00Z", "2026-06-22T12:00:00Z"},
	},
	"a close at 00:00 is the same": {
		spec: `{sessions: [{daysOfWeek: [mon], open: "12:00", close: "00:00"}]}`,
		from: "2026-06-15T13:00:00Z", active: true, changes: []string{"2026-06-16T00:00:00Z", "2026-06-22T12:00:00Z"},
	},
	"a close at 23:59 leaves a minute": {
		spec: `{sessions: [{daysOfWeek: [mon-sun], open: "00:00", close: "23:59"}]}`,
		from: "2026-06-15T13:00:00Z", active: true, changes: []string{"2026-06-15T23:59:00Z", "2026-06-16T00:00:00Z"},
	},
	"29 February as a holiday": {
		spec: `{sessions: [{daysOfWeek: [mon-sun], hoursOfDay: ["9"]}], holidays: ["2028-02-29"]}`,
		from: "2028-02-28T09:30:00Z", active: true, changes: []string{"2028-02-28T10:00:00Z", "2028-03-01T09:00:00Z"},
	},
	"closeHour is the last hour of the session": {
		spec: `{timezone: America/New_York, sessions: [{daysOfWeek: [mon-fri], hoursOfDay: ["9-16"]}],
			earlyCloses: [{date: "2026-11-27", closeHour: 12}]}`,
		from: "2026-11-27T12:00:00Z", changes: []string{"2026-11-27T14:00:00Z", "2026-11-27T18:00:00Z", "2026-11-30T14:00:00Z"},
	},
	"of several early closes the earliest counts, in any order": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], hoursOfDay: ["9-16"]}], earlyCloses: [
			{date: "2026-06-15", closeHour: 14}, {date: "2026-06-15", close: "11:30"}, {date: "2026-06-15", closeHour: 12}]}`,
		from: "2026-06-15T10:00:00Z", active: true, changes: []string{"2026-06-15T11:30:00Z"},
	},
	"an early close does not make a session longer": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], hoursOfDay: ["9-16"]}], earlyCloses: [{date: "2026-06-15", closeHour: 20}]}`,
		from: "2026-06-15T10:00:00Z", active: true, changes: []string{"2026-06-15T17:00:00Z"},
	},
	"an early close before the opening leaves no session": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}], earlyCloses: [{date: "2026-06-15", close: "09:00"}]}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-16T09:30:00Z"},
	},
	"a late open": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}],
			lateOpens: [{date: "2026-06-15", open: "11:00"}, {date: "2026-06-15", open: "10:00"}, {date: "2026-06-16", open: "08:00"}]}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-15T11:00:00Z", "2026-06-15T16:00:00Z", "2026-06-16T09:30:00Z"},
	},
	"a special session on a holiday": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}], holidays: ["2026-06-15"],
			specialSessions: [{date: "2026-06-15", open: "18:00", close: "19:00"}, {date: "2026-06-20", open: "23:00", close: "01:00"}]}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-15T18:00:00Z", "2026-06-15T19:00:00Z", "2026-06-16T09:30:00Z"},
	},
	"lead and lag": {
		spec: `{sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}], leadTime: 30m, lagTime: 90s}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-15T09:00:00Z", "2026-06-15T16:01:30Z", "2026-06-16T09:00:00Z"},
	},
	"a lunch break shorter than bridgeGaps": {
		spec: `{` + hongKong + `, bridgeGaps: 61m}`,
		from: "2026-09-01T02:00:00Z", active: true, changes: []string{"2026-09-01T08:00:00Z", "2026-09-02T01:30:00Z"},
	},
	"a lunch break as long as bridgeGaps": {
		spec: `{` + hongKong + `, bridgeGaps: 1h}`,
		from: "2026-09-01T02:00:00Z", active: true, changes: []string{"2026-09-01T04:00:00Z", "2026-09-01T05:00:00Z"},
	},
	"an exchange is a complete spec": {
		spec: `{exchange: XNYS}`,
		from: "2026-11-25T12:00:00Z",
		changes: []string{
			"2026-11-25T14:30:00Z", "2026-11-25T21:00:00Z", "2026-11-27T14:30:00Z", "2026-11-27T18:00:00Z", "2026-11-30T14:30:00Z",
		},
	},
	"an exchange with a closure, an early close and a late open of the spec": {
		spec: `{exchange: XNYS, holidays: ["2026-06-15"], earlyCloses: [{date: "2026-06-16", close: "11:00"}, {date: "2026-11-27", close: "15:00"}],
			lateOpens: [{date: "2026-06-17", open: "11:00"}]}`,
		from: "2026-06-14T12:00:00Z",
		changes: []string{
			"2026-06-16T13:30:00Z", "2026-06-16T15:00:00Z", "2026-06-17T15:00:00Z", "2026-06-17T20:00:00Z", "2026-06-18T13:30:00Z",
		},
	},
	"an early close of the spec after that of the exchange": {
		spec: `{exchange: XNYS, earlyCloses: [{date: "2026-11-27", close: "15:00"}]}`,
		from: "2026-11-27T15:00:00Z", active: true, changes: []string{"2026-11-27T18:00:00Z"},
	},
	"an exchange and sessions of the spec's own zone": {
		spec: `{exchange: XNYS, timezone: Europe/Berlin, sessions: [{daysOfWeek: [mon-fri], open: "08:00", close: "09:00"}]}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-15T06:00:00Z", "2026-06-15T07:00:00Z", "2026-06-15T13:30:00Z"},
	},
	"Tokyo before and after its close moved": {
		spec: `{exchange: XTKS, bridgeGaps: 2h}`,
		from: "2024-11-01T03:00:00Z", active: true, changes: []string{"2024-11-01T06:00:00Z", "2024-11-05T00:00:00Z", "2024-11-05T06:30:00Z"},
	},
	"the Diwali session": {
		spec: `{exchange: XBOM}`,
		from: "2024-10-31T12:00:00Z", changes: []string{"2024-11-01T12:30:00Z", "2024-11-01T13:30:00Z", "2024-11-04T03:45:00Z"},
	},
	"a closure of the spec beats a special session of the exchange": {
		spec: `{exchange: XBOM, holidays: ["2024-11-01"]}`,
		from: "2024-10-31T12:00:00Z", changes: []string{"2024-11-04T03:45:00Z"},
	},
	"futures open on Sunday evening": {
		spec: `{exchange: CMES}`,
		from: "2026-06-13T00:00:00Z", changes: []string{"2026-06-14T22:00:00Z", "2026-06-19T17:00:00Z", "2026-06-21T22:00:00Z"},
	},
	"a closure of the spec takes the evening before too": {
		spec: `{exchange: CMES, holidays: ["2026-06-15"]}`,
		from: "2026-06-13T00:00:00Z", changes: []string{"2026-06-15T22:00:00Z"},
	},
	"nothing listed is never active": {
		spec: `{}`, from: "2026-06-15T00:00:00Z", changes: []string{""},
	},
	"a single special session": {
		spec: `{specialSessions: [{date: "2026-06-20", open: "10:00", close: "11:00"}]}`,
		from: "2026-06-15T00:00:00Z", changes: []string{"2026-06-20T10:00:00Z", "2026-06-20T11:00:00Z", ""},
	},
}

func TestTimelines(t *testing.T) {
	for name, want := range timelines {
		t.Run(name, func(t *testing.T) {
			plan := mustPlan(t, want.spec)
			at, active := instant(t, want.from), want.active
			if got := plan.At(at).Active; got != active {
				t.Fatalf("active at %s: %v", want.from, got)
			}
			for _, change := range want.changes {
				answer := plan.At(at)
				if change == "" {
					if !answer.Until.IsZero() {
						t.Errorf("after %s: a change at %s, want none", at, answer.Until)
					}
					return
				}
				if !answer.Until.Equal(instant(t, change)) {
					t.Fatalf("after %s: next change %s, want %s", at.Format(time.RFC3339), answer.Until.Format(time.RFC3339), change)
				}
				active = !active
				before, on := plan.At(answer.Until.Add(-1)), plan.At(answer.Until)
				if before.Active == active || on.Active != active {
					t.Fatalf("around %s: %v, %v", change, before.Active, on.Active)
				}
				at = answer.Until
			}
		})
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct{ spec, at, want string }{
		{`{exchange: XNYS}`, "2026-11-26T15:00:00Z", "XNYS closed for Thanksgiving; opens 2026-11-27 09:30 EST (closes early, 13:00)"},
		{`{exchange: XNYS}`, "2026-11-27T15:00:00Z", "XNYS open; closes 2026-11-27 13:00 EST (early: Day after Thanksgiving)"},
		{`{exchange: XNYS}`, "2026-11-28T15:00:00Z", "XNYS closed; opens 2026-11-30 09:30 EST"},
		{`{exchange: XNYS}`, "2026-06-15T15:00:00Z", "XNYS open; closes 2026-06-15 16:00 EDT"},
		{`{exchange: XNYS}`, "2026-11-25T22:00:00Z", "XNYS closed for Thanksgiving; opens 2026-11-27 09:30 EST (closes early, 13:00)"},
		{`{exchange: XNYS, leadTime: 30m}`, "2026-06-15T12:00:00Z", "XNYS closed; opens 2026-06-15 09:30 EDT, active from 2026-06-15 09:00 EDT"},
		{`{exchange: XNYS, leadTime: 30m}`, "2026-06-15T13:10:00Z", "active for XNYS until 2026-06-15 16:00 EDT"},
		{`{exchange: XNYS, leadTime: 30m, lagTime: 15m}`, "2026-11-27T15:00:00Z", "active for XNYS until 2026-11-27 13:15 EST; market closes 2026-11-27 13:00 EST (early: Day after Thanksgiving)"},
		{`{exchange: XNYS, lagTime: 30m}`, "2026-06-15T20:10:00Z", "active for XNYS until 2026-06-15 16:30 EDT; market closes 2026-06-15 16:00 EDT"},
		{`{exchange: XLON}`, "2026-12-26T12:00:00Z", "XLON closed for Christmas Day and Boxing Day; opens 2026-12-29 08:00 GMT"},
		{`{exchange: XNYS, holidays: ["2026-11-27"]}`, "2026-11-26T12:00:00Z", "XNYS closed for Thanksgiving and a holiday of the spec; opens 2026-11-30 09:30 EST"},
		{
			`{timezone: America/New_York, holidays: ["2026-06-19"], sessions: [{daysOfWeek: [mon-fri], open: "09:30", close: "16:00"}]}`,
			"2026-06-20T15:00:00Z", "market closed for a holiday of the spec; opens 2026-06-22 09:30 EDT",
		},
		{`{exchange: XNYS, timezone: Europe/Berlin}`, "2026-06-15T15:00:00Z", "XNYS open; closes 2026-06-15 22:00 CEST"},
		{`{exchange: XNYS, holidays: ["2026-06-15"]}`, "2026-06-15T15:00:00Z", "XNYS closed for a holiday of the spec; opens 2026-06-16 09:30 EDT"},
		{`{exchange: XNYS, earlyCloses: [{date: "2026-06-15", close: "12:00"}]}`, "2026-06-15T12:00:00Z", "XNYS closed; opens 2026-06-15 09:30 EDT (closes early, 12:00)"},
		{
			`{timezone: America/New_York, holidays: ["2026-12-25"], sessions: [{daysOfWeek: [mon-sun], hoursOfDay: ["18-23"]}, {daysOfWeek: [mon-sun], hoursOfDay: ["0-16"]}]}`,
			"2026-12-26T22:30:00Z", "market closed; opens 2026-12-26 18:00 EST",
		},
		{
			`{timezone: America/New_York, holidays: ["2026-12-25"], sessions: [{daysOfWeek: [mon-sun], hoursOfDay: ["18-23"]}, {daysOfWeek: [mon-sun], hoursOfDay: ["0-16"]}]}`,
			"2026-12-25T15:00:00Z", "market closed for a holiday of the spec; opens 2026-12-26 00:00 EST",
		},
		{`{exchange: XTKS}`, "2026-06-15T03:00:00Z", "XTKS closed for a break; opens 2026-06-15 12:30 JST"},
		{`{exchange: XTKS, bridgeGaps: 2h}`, "2026-06-15T03:00:00Z", "active for XTKS until 2026-06-15 15:30 JST"},
		{`{exchange: XTKS}`, "2026-06-15T01:00:00Z", "XTKS open; closes 2026-06-15 11:30 JST (break)"},
		{`{exchange: XBOM}`, "2024-11-01T05:00:00Z", "XBOM closed for Diwali (Laxmi Pujan); opens 2024-11-01 18:00 IST (Muhurat trading, until 19:00)"},
		{`{exchange: BVMF}`, "2026-02-17T15:00:00Z", "BVMF closed for Carnival Monday and Carnival Tuesday; opens 2026-02-18 13:00 UTC-03:00 (opens late, Ash Wednesday)"},
		{`{exchange: IEPA}`, "2026-11-25T23:30:00Z", "IEPA closed; opens 2026-11-25 20:00 EST (closes early, 13:00)"},
		{`{exchange: CMES}`, "2026-11-25T23:30:00Z", "CMES open; closes 2026-11-26 12:00 CST (early: Thanksgiving)"},
		{`{exchange: XSHG}`, "2026-12-31T12:00:00Z", "XSHG closed; the calendar ends on 2026-12-31"},
		{`{exchange: XSHG, lagTime: 48h}`, "2026-12-31T12:00:00Z", "active for XSHG; the calendar ends on 2026-12-31"},
		{newYork, "2026-06-15T15:00:00Z", "market open; closes 2026-06-15 16:00 EDT"},
		{`{}`, "2026-06-15T15:00:00Z", "market closed, and never opens again"},
		{`{sessions: [{daysOfWeek: [mon-sun], hoursOfDay: ["0-23"]}]}`, "2026-06-15T15:00:00Z", "market open, and never closes"},
	} {
		if got := mustPlan(t, c.spec).At(instant(t, c.at)).Message; got != c.want {
			t.Errorf("%s at %s:\n got %s\nwant %s", c.spec, c.at, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []string // paths
	}{
		{`{exchange: XABC}`, []string{"spec.exchange"}},
		{`{exchange: xnys}`, []string{"spec.exchange"}},
		{`{timezone: "europe/berlin"}`, []string{"spec.timezone"}},
		{`{timezone: ""}`, []string{"spec.timezone"}},
		{`{timezone: Local}`, []string{"spec.timezone"}},
		{
			`{holidays: ["2028-02-29", "2027-02-29", "2026-6-01", "2026-12-25T00:00:00Z"]}`,
			[]string{"spec.holidays[1]", "spec.holidays[2]", "spec.holidays[3]"},
		},
		{`{sessions: [{daysOfWeek: [mon], open: "17:00", close: "17:00"}]}`, []string{"spec.sessions[0].close"}},
		{`{sessions: [{daysOfWeek: [mon], open: "9:30", close: "25:00"}]}`, []string{"spec.sessions[0].open", "spec.sessions[0].close"}},
		{`{sessions: [{daysOfWeek: [mon-fry], hoursOfDay: ["9-24"]}]}`, []string{"spec.sessions[0].daysOfWeek[0]", "spec.sessions[0].hoursOfDay[0]"}},
		{`{sessions: [{open: "09:30", close: "16:00"}]}`, []string{"spec.sessions[0].daysOfWeek"}},
		{`{sessions: [{daysOfWeek: [mon], hoursOfDay: ["9"], open: "09:30", close: "16:00"}]}`, []string{"spec.sessions[0].hoursOfDay"}},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30"}]}`, []string{"spec.sessions[0].close"}},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30", close: "10:00", openDayOffset: -1}]}`, []string{"spec.sessions[0].close"}},
		{`{sessions: [{daysOfWeek: [mon], open: "09:30", close: "10:00", openDayOffset: -2}]}`, []string{"spec.sessions[0].openDayOffset"}},
		{`{sessions: [{daysOfWeek: [mon], hoursOfDay: ["9"], openDayOffset: -1}]}`, []string{"spec.sessions[0].openDayOffset"}},
		{
			`{earlyCloses: [{date: "2026-02-30", closeHour: 13}, {date: "2026-02-20"}, {date: "2026-02-20", closeHour: 12, close: "13:00"}, {date: "2026-02-20", closeHour: 24}]}`,
			[]string{"spec.earlyCloses[0].date", "spec.earlyCloses[1].close", "spec.earlyCloses[2].close", "spec.earlyCloses[3].closeHour"},
		},
		{`{lateOpens: [{date: "x", open: "24:00"}]}`, []string{"spec.lateOpens[0].date", "spec.lateOpens[0].open"}},
		{`{specialSessions: [{date: "2026-02-20", open: "10:00", close: "10:00"}]}`, []string{"spec.specialSessions[0].close"}},
		{`{leadTime: "1d", lagTime: "-5m", bridgeGaps: "169h"}`, []string{"spec.leadTime", "spec.lagTime", "spec.bridgeGaps"}},
		{`{leadTime: "99999999999999999999s", lagTime: "4294967295h"}`, []string{"spec.leadTime", "spec.lagTime"}},
		{`{leadTime: "+5s", lagTime: "m", bridgeGaps: "1.5h"}`, []string{"spec.leadTime", "spec.lagTime", "spec.bridgeGaps"}},
	} {
		_, err := NewPlan(parse(t, c.spec))
		var got []string
		for _, e := range schedule.FieldErrors(err) {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %v\npaths (-want +got):\n%s", c.spec, err, diff)
		}
	}
}

func TestAnExhaustedCalendarDecidesNothing(t *testing.T) {
	plan := mustPlan(t, `{exchange: XSHG, leadTime: 30m}`)
	end := instant(t, "2026-12-31T16:00:00Z").Add(-30 * time.Minute) // the last midnight in Shanghai, less the lead
	last := plan.At(end.Add(-time.Second))
	if last.Exhausted || last.Active || !last.Until.Equal(end) {
		t.Errorf("before the end: %+v", last)
	}
	for _, at := range []time.Time{end, end.AddDate(1, 0, 0), end.AddDate(400, 0, 0), instant(t, "2014-12-31T15:59:59Z")} {
		answer := plan.At(at)
		if !answer.Exhausted || answer.Reason != ReasonCalendarExhausted || !strings.Contains(answer.Message, "XSHG") {
			t.Errorf("at %s: %+v", at, answer)
		}
	}
}

func TestEveryExchangeAgreesWithItsCalendar(t *testing.T) {
	for _, mic := range []string{"XNYS", "XTKS", "XHKG", "CMES", "XTAE", "XSAU", "XBOM", "BVMF", "XLON"} {
		plan := mustPlan(t, `{exchange: `+mic+`}`)
		at := plan.from
		for range 4000 {
			answer := plan.At(at)
			if answer.Until.IsZero() || answer.Exhausted {
				break
			}
			if last := plan.At(answer.Until.Add(-1)); last.Message != answer.Message || last.Until != answer.Until {
				t.Fatalf("%s: at %s %+v, and at the end of that %+v", mic, at, answer, last)
			}
			date := toCalendar(plan.exchangeZone.Date(at))
			today, open := plan.exchange.Session(date)
			tomorrow, openNext := plan.exchange.Session(date.AddDays(1))
			if want := open && within(plan, today.Date, today.Open, today.Close, today.Breaks, at) ||
				openNext && within(plan, tomorrow.Date, tomorrow.Open, tomorrow.Close, tomorrow.Breaks, at); want != answer.Active {
				t.Fatalf("%s at %s: active %v, calendar says %v", mic, at, answer.Active, want)
			}
			at = answer.Until
		}
	}
}

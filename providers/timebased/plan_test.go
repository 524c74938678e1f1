// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
)

func mustPlan(t testing.TB, spec string) *Plan {
	t.Helper()
	var parsed v1alpha1.TimeBasedSpotScheduleSpec
	if err := yaml.UnmarshalStrict([]byte(spec), &parsed); err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(&parsed)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
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

var timelines = map[string]timeline{
	"an hour that does not exist is not a window that day": {
		spec:    `{timezone: America/New_York, daysOfWeek: [mon-sun], hoursOfDay: ["2"]}`,
		from:    "2026-03-08T06:30:00Z",
		changes: []string{"2026-03-09T06:00:00Z", "2026-03-09T07:00:00Z"},
	},
	"of two hours one does not exist": {
		spec:    `{timezone: America/New_York, daysOfWeek: [mon-sun], hoursOfDay: ["1-2"]}`,
		from:    "2026-03-08T05:30:00Z",
		changes: []string{"2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z", "2026-03-09T05:00:00Z"},
	},
	"an hour that is repeated lasts two": {
		spec:    `{timezone: America/New_York, daysOfWeek: [mon-sun], hoursOfDay: ["1"]}`,
		from:    "2026-11-01T04:30:00Z",
		changes: []string{"2026-11-01T05:00:00Z", "2026-11-01T07:00:00Z", "2026-11-02T06:00:00Z"},
	},
	"a window within the hour that does not exist does not open": {
		spec:    `{timezone: Europe/Berlin, windows: [{days: [mon-sun], start: "02:10", end: "02:50"}]}`,
		from:    "2026-03-28T12:00:00Z",
		changes: []string{"2026-03-30T00:10:00Z", "2026-03-30T00:50:00Z"},
	},
	"a window that starts in the gap opens at its end": {
		spec:    `{timezone: Europe/Berlin, windows: [{days: [sun], start: "02:30", end: "05:00"}]}`,
		from:    "2026-03-28T12:00:00Z",
		changes: []string{"2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z"},
	},
	"a window that starts at a repeated time opens at the first": {
		spec:    `{timezone: Europe/Berlin, windows: [{days: [sun], start: "02:30", end: "05:00"}]}`,
		from:    "2026-10-24T12:00:00Z",
		changes: []string{"2026-10-25T00:30:00Z", "2026-10-25T04:00:00Z"},
	},
	"a window that ends at a repeated time closes at the first": {
		spec:    `{timezone: Europe/Berlin, windows: [{days: [sun], start: "00:30", end: "02:30"}]}`,
		from:    "2026-10-24T12:00:00Z",
		changes: []string{"2026-10-24T22:30:00Z", "2026-10-25T00:30:00Z", "2026-10-31T23:30:00Z"},
	},
	"Kolkata is half an hour off": {
		spec:    `{timezone: Asia/Kolkata, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`,
		from:    "2026-06-15T03:00:00Z",
		changes: []string{"2026-06-15T03:30:00Z", "2026-06-15T12:30:00Z"},
	},
	"Kathmandu is a quarter of an hour off": {
		spec:    `{timezone: Asia/Kathmandu, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`,
		from:    "2026-06-15T03:00:00Z",
		changes: []string{"2026-06-15T03:15:00Z", "2026-06-15T12:15:00Z"},
	},
	"Chatham is three quarters of an hour off": {
		spec:    `{timezone: Pacific/Chatham, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`,
		from:    "2026-01-18T19:00:00Z",
		changes: []string{"2026-01-18T19:15:00Z", "2026-01-19T04:15:00Z"},
	},
	"St. John's before clocks change": {
		spec:    `{timezone: America/St_Johns, windows: [{days: [mon-sun], start: "23:45", end: "00:15"}]}`,
		from:    "2026-03-07T12:00:00Z",
		changes: []string{"2026-03-08T03:15:00Z", "2026-03-08T03:45:00Z", "2026-03-09T02:15:00Z"},
	},
	"Lord Howe shifts by half an hour": {
		spec:    `{timezone: Australia/Lord_Howe, daysOfWeek: [mon-sun], hoursOfDay: ["2"]}`,
		from:    "2026-10-03T12:00:00Z",
		changes: []string{"2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z", "2026-10-04T15:00:00Z"},
	},
	"Troll shifts by two hours": {
		spec:    `{timezone: Antarctica/Troll, daysOfWeek: [mon-sun], hoursOfDay: ["1-2"]}`,
		from:    "2026-03-28T12:00:00Z",
		changes: []string{"2026-03-29T23:00:00Z", "2026-03-30T01:00:00Z"},
	},
	"Friday was left out in Apia": {
		spec:    `{timezone: Pacific/Apia, daysOfWeek: [fri], hoursOfDay: ["0-23"]}`,
		from:    "2011-12-29T12:00:00Z",
		changes: []string{"2012-01-05T10:00:00Z", "2012-01-06T10:00:00Z"},
	},
	"Saturday came early in Apia": {
		spec:    `{timezone: Pacific/Apia, daysOfWeek: [sat], hoursOfDay: ["0-23"]}`,
		from:    "2011-12-29T12:00:00Z",
		changes: []string{"2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
	},
	"no window on a date that was left out": {
		spec:    `{timezone: Pacific/Apia, windows: [{days: [fri], start: "09:00", end: "17:00"}]}`,
		from:    "2011-12-29T12:00:00Z",
		changes: []string{"2012-01-05T19:00:00Z", "2012-01-06T03:00:00Z"},
	},
	"clocks go back for Ramadan in Casablanca": {
		spec:    `{timezone: Africa/Casablanca, daysOfWeek: [mon-sun], hoursOfDay: ["2"]}`,
		from:    "2025-02-22T12:00:00Z",
		changes: []string{"2025-02-23T01:00:00Z", "2025-02-23T03:00:00Z"},
	},
	"and forward again after it": {
		spec:    `{timezone: Africa/Casablanca, daysOfWeek: [mon-sun], hoursOfDay: ["2"]}`,
		from:    "2025-04-05T12:00:00Z",
		changes: []string{"2025-04-07T01:00:00Z", "2025-04-07T02:00:00Z"},
	},
	"Casablanca on the Friday before": {
		spec:    `{timezone: Africa/Casablanca, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`,
		from:    "2025-02-21T00:00:00Z",
		changes: []string{"2025-02-21T08:00:00Z", "2025-02-21T17:00:00Z", "2025-02-24T09:00:00Z", "2025-02-24T18:00:00Z"},
	},
	"winter time is the shifted one in Dublin": {
		spec:    `{timezone: Europe/Dublin, daysOfWeek: [sun], hoursOfDay: ["1"]}`,
		from:    "2026-10-24T12:00:00Z",
		changes: []string{"2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"},
	},
	"the weekday is the local one": {
		spec:    `{timezone: Pacific/Auckland, daysOfWeek: [mon-fri], hoursOfDay: ["6-19"]}`,
		from:    "2026-06-14T18:00:00Z",
		active:  true,
		changes: []string{"2026-06-15T08:00:00Z"},
	},
	"the week may start on Sunday": {
		spec:    `{timezone: Asia/Jerusalem, daysOfWeek: [sun-thu], hoursOfDay: ["6-21"]}`,
		from:    "2026-01-22T21:00:00Z",
		changes: []string{"2026-01-25T04:00:00Z", "2026-01-25T20:00:00Z"},
	},
	"from an hour to itself is that hour": {
		spec:    `{timezone: Etc/UTC, daysOfWeek: [sat-sun], hoursOfDay: ["3-3"]}`,
		from:    "2026-06-12T00:00:00Z",
		changes: []string{"2026-06-13T03:00:00Z", "2026-06-13T04:00:00Z", "2026-06-14T03:00:00Z", "2026-06-14T04:00:00Z"},
	},
	"always": {
		spec:    `{timezone: Etc/UTC, daysOfWeek: [mon-sun], hoursOfDay: ["0-23"]}`,
		from:    "2026-06-15T09:00:00Z",
		active:  true,
		changes: []string{""},
	},
	"hours that touch do not blip": {
		spec:    `{timezone: Etc/UTC, daysOfWeek: [mon-fri], hoursOfDay: ["9-12,12-17"]}`,
		from:    "2026-06-15T08:00:00Z",
		changes: []string{"2026-06-15T09:00:00Z", "2026-06-15T18:00:00Z"},
	},
	"windows that touch do not blip": {
		spec:    `{windows: [{days: [mon], start: "09:00", end: "12:00"}, {days: [mon], start: "12:00", end: "17:30"}]}`,
		from:    "2026-06-15T08:00:00Z",
		changes: []string{"2026-06-15T09:00:00Z", "2026-06-15T17:30:00Z"},
	},
	"hours that run over midnight count for the day they are on": {
		spec:    `{daysOfWeek: [fri], hoursOfDay: ["22-5"]}`,
		from:    "2026-06-18T12:00:00Z",
		changes: []string{"2026-06-19T00:00:00Z", "2026-06-19T06:00:00Z", "2026-06-19T22:00:00Z", "2026-06-20T00:00:00Z"},
	},
	"a window that runs over midnight belongs to the day it starts on": {
		spec:    `{windows: [{days: [fri], start: "22:00", end: "06:00"}]}`,
		from:    "2026-06-18T12:00:00Z",
		changes: []string{"2026-06-19T22:00:00Z", "2026-06-20T06:00:00Z", "2026-06-26T22:00:00Z"},
	},
	"a window until 24:00": {
		spec:    `{windows: [{days: [mon], start: "12:00", end: "24:00"}]}`,
		from:    "2026-06-15T13:00:00Z",
		active:  true,
		changes: []string{"2026-06-16T00:00:00Z"},
	},
	"a window until 00:00 is the same": {
		spec:    `{windows: [{days: [mon], start: "12:00", end: "00:00"}]}`,
		from:    "2026-06-15T13:00:00Z",
		active:  true,
		changes: []string{"2026-06-16T00:00:00Z"},
	},
	"a window until 23:59 leaves a minute": {
		spec:    `{windows: [{days: [mon-sun], start: "00:00", end: "23:59"}]}`,
		from:    "2026-06-15T13:00:00Z",
		active:  true,
		changes: []string{"2026-06-15T23:59:00Z", "2026-06-16T00:00:00Z"},
	},
	"year's end": {
		spec:    `{timezone: America/Los_Angeles, windows: [{days: [thu], start: "22:00", end: "03:00"}]}`,
		from:    "2026-12-31T12:00:00Z",
		changes: []string{"2027-01-01T06:00:00Z", "2027-01-01T11:00:00Z", "2027-01-08T06:00:00Z"},
	},
	"29 February": {
		spec:    `{timezone: Europe/Paris, daysOfWeek: [tue], hoursOfDay: ["9"]}`,
		from:    "2028-02-28T12:00:00Z",
		changes: []string{"2028-02-29T08:00:00Z", "2028-02-29T09:00:00Z"},
	},
	"29 February left out": {
		spec:    `{daysOfWeek: [mon-sun], hoursOfDay: ["9"], exceptDates: ["2028-02-29"]}`,
		from:    "2028-02-28T09:30:00Z",
		active:  true,
		changes: []string{"2028-02-28T10:00:00Z", "2028-03-01T09:00:00Z"},
	},
	"an excepted date keeps the window of the night before": {
		spec:    `{windows: [{days: [mon-sun], start: "22:00", end: "06:00"}], exceptDates: ["2026-12-25"]}`,
		from:    "2026-12-24T23:00:00Z",
		active:  true,
		changes: []string{"2026-12-25T06:00:00Z", "2026-12-26T22:00:00Z"},
	},
	"an excepted date is a local one": {
		spec:    `{timezone: Asia/Tokyo, daysOfWeek: [mon-sun], hoursOfDay: ["0-23"], exceptDates: ["2026-12-25"]}`,
		from:    "2026-12-24T00:00:00Z",
		active:  true,
		changes: []string{"2026-12-24T15:00:00Z", "2026-12-25T15:00:00Z", ""},
	},
	"once, beside an excepted date": {
		spec:    `{once: [{start: "2026-12-24T20:00:00+02:00", end: "2026-12-24T20:00:30+02:00"}], exceptDates: ["2026-12-24"]}`,
		from:    "2026-06-15T08:00:00Z",
		changes: []string{"2026-12-24T18:00:00Z", "2026-12-24T18:00:30Z", ""},
	},
	"everything together": {
		spec: `{timezone: Europe/Berlin, daysOfWeek: [mon], hoursOfDay: ["9"],
			windows: [{days: [mon], start: "09:30", end: "11:15"}], once: [{start: "2026-06-15T09:15:00Z", end: "2026-06-15T10:00:00Z"}]}`,
		from:    "2026-06-15T06:00:00Z",
		changes: []string{"2026-06-15T07:00:00Z", "2026-06-15T10:00:00Z", "2026-06-22T07:00:00Z", "2026-06-22T09:15:00Z"},
	},
	"no days":       {spec: `{daysOfWeek: [], hoursOfDay: ["9-17"]}`, from: "2026-06-15T09:00:00Z", changes: []string{""}},
	"no hours":      {spec: `{daysOfWeek: [mon-sun]}`, from: "2026-06-15T09:00:00Z", changes: []string{""}},
	"switched off":  {spec: `{enabled: false, daysOfWeek: [mon-sun], hoursOfDay: ["0-23"]}`, from: "2026-06-15T09:00:00Z", changes: []string{""}},
	"nothing there": {spec: `{}`, from: "2026-06-15T09:00:00Z", changes: []string{""}},
	"a fixed offset keeps to it in summer": {
		spec:    `{timezone: EST, daysOfWeek: [mon-fri], hoursOfDay: ["9"]}`,
		from:    "2026-07-06T12:00:00Z",
		changes: []string{"2026-07-06T14:00:00Z", "2026-07-06T15:00:00Z"},
	},
	"far in the future": {
		spec:    `{timezone: America/New_York, daysOfWeek: [mon], hoursOfDay: ["9"]}`,
		from:    "2999-06-30T00:00:00Z",
		changes: []string{"2999-07-01T13:00:00Z", "2999-07-01T14:00:00Z"},
	},
}

func TestTimelines(t *testing.T) {
	for name, test := range timelines {
		t.Run(name, func(t *testing.T) {
			plan := mustPlan(t, test.spec)
			at, active := instant(t, test.from), test.active
			for _, want := range test.changes {
				answer := plan.At(at)
				if answer.Active != active {
					t.Fatalf("%s: active is %t", at.Format(time.RFC3339), answer.Active)
				}
				if want == "" {
					if !answer.Until.IsZero() {
						t.Errorf("%s: changes again at %s", at.Format(time.RFC3339), answer.Until.Format(time.RFC3339))
					}
					return
				}
				if !answer.Until.Equal(instant(t, want)) {
					t.Fatalf("%s: next change %s, want %s", at.Format(time.RFC3339), answer.Until.Format(time.RFC3339), want)
				}
				at, active = answer.Until, !active
			}
			if got := plan.At(at).Active; got != active {
				t.Errorf("%s: active is %t", at.Format(time.RFC3339), got)
			}
		})
	}
}

func TestMessageSaysWhatHappensNext(t *testing.T) {
	tests := map[string]struct {
		spec, at, reason, message string
	}{
		"open":          {`{timezone: Europe/Berlin, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`, "2026-06-15T09:00:00Z", "WindowOpen", "open; closes Mon 2026-06-15 18:00 CEST"},
		"closed":        {`{timezone: Europe/Berlin, daysOfWeek: [mon-fri], hoursOfDay: ["9-17"]}`, "2026-06-19T17:00:00Z", "WindowClosed", "closed; opens Mon 2026-06-22 09:00 CEST"},
		"winter":        {`{timezone: America/New_York, windows: [{days: [mon-fri], start: "09:30", end: "16:00"}]}`, "2026-11-27T12:00:00Z", "WindowClosed", "closed; opens Fri 2026-11-27 09:30 EST"},
		"offset":        {`{timezone: Asia/Kathmandu, daysOfWeek: [mon], hoursOfDay: ["9"]}`, "2026-06-15T00:00:00Z", "WindowClosed", "closed; opens Mon 2026-06-15 09:00 UTC+05:45"},
		"seconds":       {`{once: [{start: "2026-06-15T00:00:10Z", end: "2026-06-16T00:00:00Z"}]}`, "2026-06-15T00:00:00Z", "WindowClosed", "closed; opens Mon 2026-06-15 00:00:10 UTC"},
		"never":         {`{}`, "2026-06-15T00:00:00Z", "WindowClosed", "closed, and never opens again"},
		"always":        {`{daysOfWeek: [mon-sun], hoursOfDay: ["0-23"]}`, "2026-06-15T00:00:00Z", "WindowOpen", "open, and never closes"},
		"switched off":  {`{enabled: false}`, "2026-06-15T00:00:00Z", "WindowClosed", "switched off: spec.enabled is false"},
		"offset, minus": {`{timezone: America/Sao_Paulo, daysOfWeek: [mon], hoursOfDay: ["9"]}`, "2026-06-15T00:00:00Z", "WindowClosed", "closed; opens Mon 2026-06-15 09:00 UTC-03:00"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer := mustPlan(t, test.spec).At(instant(t, test.at))
			if answer.Reason != test.reason || answer.Message != test.message {
				t.Errorf("%s: %q, want %s: %q", answer.Reason, answer.Message, test.reason, test.message)
			}
		})
	}
}

func TestABadSpecIsRefusedByPathAndValue(t *testing.T) {
	const day = ` is not a weekday mon, tue, wed, thu, fri, sat or sun, or a range of them such as mon-fri`
	const hour = ` is not an hour 0 to 23, or a range of them with both ends included such as 9-17`
	const date = ` is not a date that exists, spelled YYYY-MM-DD, such as 2026-12-25`
	const zone = ` is not an IANA time zone name such as Europe/Berlin or UTC`
	const instantWant = ` is not an instant in RFC 3339 with whole seconds, such as 2026-12-24T18:00:00Z`
	tests := map[string]string{
		`{daysOfWeek: [mon-fry]}`:                                                  `spec.daysOfWeek[0]: "mon-fry"` + day,
		`{daysOfWeek: [mon, ""]}`:                                                  `spec.daysOfWeek[1]: ""` + day,
		`{daysOfWeek: [Mon]}`:                                                      `spec.daysOfWeek[0]: "Mon"` + day,
		`{daysOfWeek: [monday]}`:                                                   `spec.daysOfWeek[0]: "monday"` + day,
		`{daysOfWeek: ["mon,"]}`:                                                   `spec.daysOfWeek[0]: "mon,"` + day,
		`{daysOfWeek: ["mon-wed-fri"]}`:                                            `spec.daysOfWeek[0]: "mon-wed-fri"` + day,
		`{hoursOfDay: ["9-24"]}`:                                                   `spec.hoursOfDay[0]: "9-24"` + hour,
		`{hoursOfDay: ["-1"]}`:                                                     `spec.hoursOfDay[0]: "-1"` + hour,
		`{hoursOfDay: ["9–17"]}`:                                                   `spec.hoursOfDay[0]: "9–17"` + hour,
		`{hoursOfDay: ["9", "9:30"]}`:                                              `spec.hoursOfDay[1]: "9:30"` + hour,
		`{timezone: ""}`:                                                           `spec.timezone: ""` + zone,
		`{timezone: Local}`:                                                        `spec.timezone: "Local"` + zone,
		`{timezone: europe/berlin}`:                                                `spec.timezone: "europe/berlin"` + zone + `; did you mean Europe/Berlin?`,
		`{exceptDates: ["2027-02-29"]}`:                                            `spec.exceptDates[0]: "2027-02-29"` + date,
		`{exceptDates: ["2026-6-01"]}`:                                             `spec.exceptDates[0]: "2026-6-01"` + date,
		`{exceptDates: ["2026-12-25T00:00:00Z"]}`:                                  `spec.exceptDates[0]: "2026-12-25T00:00:00Z"` + date,
		`{windows: [{days: [], start: "09:00", end: "10:00"}]}`:                    `spec.windows[0].days: "[]" is not a list of at least one weekday, such as [mon-fri]`,
		`{windows: [{days: [mon], start: "9:00", end: "10:00"}]}`:                  `spec.windows[0].start: "9:00" is not a time of day HH:MM from 00:00 to 24:00, such as 09:30`,
		`{windows: [{days: [mon], start: "09:00", end: "24:01"}]}`:                 `spec.windows[0].end: "24:01" is not a time of day HH:MM from 00:00 to 24:00, such as 09:30`,
		`{windows: [{days: [mon], start: "24:00", end: "10:00"}]}`:                 `spec.windows[0].start: "24:00" is not a time of day HH:MM from 00:00 to 23:59; for midnight write 00:00 on the next day`,
		`{windows: [{days: [mon], start: "17:00", end: "17:00"}]}`:                 `spec.windows[0].end: "17:00" is not different from start; for the whole day write start 00:00 and end 24:00`,
		`{once: [{start: tomorrow, end: "2026-01-01T00:00:00Z"}]}`:                 `spec.once[0].start: "tomorrow"` + instantWant,
		`{once: [{start: "2026-01-01T00:00:00.5Z", end: "2026-01-02T00:00:00Z"}]}`: `spec.once[0].start: "2026-01-01T00:00:00.5Z"` + instantWant,
		`{once: [{start: "2026-01-02T00:00:00Z", end: "2026-01-02T00:00:00Z"}]}`:   `spec.once[0].end: "2026-01-02T00:00:00Z" is not later than start, which is 2026-01-02T00:00:00Z`,
		`{timezone: x, daysOfWeek: [w], hoursOfDay: [z]}`:                          `spec.timezone: "x"` + zone + "; " + `spec.daysOfWeek[0]: "w"` + day + "; " + `spec.hoursOfDay[0]: "z"` + hour,
	}
	for spec, want := range tests {
		t.Run(spec, func(t *testing.T) {
			var parsed v1alpha1.TimeBasedSpotScheduleSpec
			if err := yaml.UnmarshalStrict([]byte(spec), &parsed); err != nil {
				t.Fatal(err)
			}
			if _, err := NewPlan(&parsed); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

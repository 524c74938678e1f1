// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/cli/manifest"
)

func parse(t *testing.T, text string) *manifest.Object {
	t.Helper()
	objects, err := manifest.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 {
		t.Fatalf("%d objects", len(objects))
	}
	return objects[0]
}

func scheduleOf(kind, spec string) string {
	return "apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: " + kind + "\nmetadata: {name: x}\nspec: " + spec + "\n"
}

// What a timeline shows at any instant is what the provider would publish then.
func TestATimelineIsWhatTheProviderSays(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, text := range []string{
		scheduleOf("TimeBasedSpotSchedule", `{timezone: America/New_York, daysOfWeek: [mon-fri], hoursOfDay: ["1-2,9-17"], windows: [{days: [sat], start: "22:00", end: "02:30"}]}`),
		scheduleOf("CapitalMarketsSchedule", `{exchange: XTKS, leadTime: 20m}`),
		scheduleOf("ManualSchedule", `{enabled: true, until: "2026-11-01T06:00:00Z"}`),
	} {
		s, err := Read(parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, time.October, 20, 3, 4, 5, 0, time.UTC)
		until := from.AddDate(0, 0, 30)
		stretches := s.Timeline(from, until)
		for range 300 {
			at := from.Add(time.Duration(random.Int64N(int64(until.Sub(from)))))
			decision, err := s.Evaluate(at)
			if err != nil {
				t.Fatal(err)
			}
			if shown := find(stretches, at); shown.Active != decision.Active {
				t.Errorf("%s at %s: shown as active=%t, the provider says %t", s.Object, at, shown.Active, decision.Active)
			}
		}
	}
}

// find returns the stretch that an instant lies in.
func find(stretches []Stretch, at time.Time) Stretch {
	found := stretches[0]
	for _, stretch := range stretches {
		if !stretch.Start.After(at) {
			found = stretch
		}
	}
	return found
}

func TestATimelineEndsWhereNothingIsKnown(t *testing.T) {
	s, err := Read(parse(t, scheduleOf("CapitalMarketsSchedule", `{exchange: XSHG}`)))
	if err != nil {
		t.Fatal(err)
	}
	stretches := s.Timeline(time.Date(2026, time.December, 30, 0, 0, 0, 0, time.UTC), time.Date(2027, time.March, 1, 0, 0, 0, 0, time.UTC))
	last := stretches[len(stretches)-1]
	if last.Unknown == nil || !strings.Contains(last.Unknown.Error(), "XSHG") {
		t.Errorf("the last stretch is %+v", last)
	}
	if before := stretches[len(stretches)-2]; !before.End.Equal(last.Start) {
		t.Errorf("the one before ends at %s, the last begins at %s", before.End, last.Start)
	}
}

func TestProblemsAreThoseOfSchemaAndProvider(t *testing.T) {
	tests := map[string]struct {
		text string
		want []Problem
	}{
		"fine":          {scheduleOf("ManualSchedule", `{enabled: true}`), nil},
		"other group":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", nil},
		"by the schema": {scheduleOf("ManualSchedule", `{}`), []Problem{{"spec.enabled", "Required value"}}},
		"all that is missing": {
			"apiVersion: 5spot.finos.org/v1beta1\nkind: ScheduledMachine\nmetadata: {name: x}\nspec: {}\n",
			[]Problem{{"spec.schedule", "Required value"}, {"spec.clusterName", "Required value"}, {"spec.bootstrapSpec", "Required value"}, {"spec.infrastructureSpec", "Required value"}},
		},
		"by the provider, once": {
			scheduleOf("TimeBasedSpotSchedule", `{exceptDates: ["2026-6-01"]}`),
			[]Problem{{"spec.exceptDates[0]", `"2026-6-01" is not a date that exists, spelled YYYY-MM-DD, such as 2026-12-25`}},
		},
		"a field that is not there": {
			scheduleOf("TimeBasedSpotSchedule", `{hourOfDay: ["9"]}`), []Problem{{"spec.hourOfDay", "there is no such field"}},
		},
		"a type that does not fit": {
			scheduleOf("TimeBasedSpotSchedule", `{hoursOfDay: [9]}`),
			[]Problem{{"spec.hoursOfDay[0]", "is of type integer where string is due; put it in quotes"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, unknown, err := Problems(parse(t, test.text))
			if err != nil || unknown != "" {
				t.Fatal(unknown, err)
			}
			sortByPath := func(list []Problem) map[string]string {
				byPath := map[string]string{}
				for _, problem := range list {
					byPath[problem.Path] = problem.Text
				}
				return byPath
			}
			if diff := cmp.Diff(sortByPath(test.want), sortByPath(got)); diff != "" || len(got) != len(test.want) {
				t.Errorf("%d problems\n%s", len(got), diff)
			}
		})
	}
}

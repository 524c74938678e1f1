// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"strings"
	"testing"
)

func TestReadingAManifest(t *testing.T) {
	const (
		tide  = "apiVersion: spotschedules.5spot.finos.org/v1\nkind: TideSchedule\nmetadata: {name: a, namespace: b}\nspec: {harbour: Hamburg}\n"
		table = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tides}\n"
	)
	tests := map[string]struct {
		manifest string
		others   int
		problem  string
	}{
		"one object":         {manifest: tide},
		"with what it needs": {manifest: table + "---\n" + tide + "---\n# nothing\n---\n" + strings.Replace(table, "tides", "moons", 1), others: 2},
		"JSON":               {manifest: `{"apiVersion": "spotschedules.5spot.finos.org/v1", "kind": "TideSchedule"}`},
		"of another kind":    {manifest: table, problem: "holds no TideSchedule"},
		"two objects":        {manifest: tide + "---\n" + tide, problem: "holds more than one TideSchedule"},
		"no YAML":            {manifest: "a: [", problem: "cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := readSample("On", []byte(test.manifest), "TideSchedule")
			if test.problem != "" {
				option, is := err.(*OptionError) //nolint:errorlint // it is returned as it is
				if !is || option.Option != "On" || !strings.Contains(option.Problem, test.problem) {
					t.Fatalf("got %v, want one about %q", err, test.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if read.object.GetKind() != "TideSchedule" || len(read.others) != test.others {
				t.Errorf("it is a %s with %d further objects, want %d", read.object.GetKind(), len(read.others), test.others)
			}
		})
	}
}

func TestSamplesThatCannotBeThereAtTheSameTime(t *testing.T) {
	const tide = "apiVersion: spotschedules.5spot.finos.org/v1\nkind: TideSchedule\n---\n"
	table := func(name, level string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {level: " + level + "}\n"
	}
	for name, test := range map[string]struct {
		on, off string
		want    bool
	}{
		"nothing further":          {"", "", false},
		"the same object":          {table("tides", "high"), table("tides", "high"), false},
		"an object in two states":  {table("tides", "high"), table("tides", "low"), true},
		"two objects":              {table("high", "high"), table("low", "low"), false},
		"an object of one of them": {table("tides", "high"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			on, err := readSample("On", []byte(tide+test.on), "TideSchedule")
			if err != nil {
				t.Fatal(err)
			}
			off, err := readSample("Off", []byte(tide+test.off), "TideSchedule")
			if err != nil {
				t.Fatal(err)
			}
			if got := on.disagrees(off); got != test.want {
				t.Errorf("they disagree: %t, want %t", got, test.want)
			}
		})
	}
}

func TestSamplesAreOfTheGroup(t *testing.T) {
	o := &Options{Kind: "TideSchedule", Off: []byte("apiVersion: tides.example.com/v1\nkind: TideSchedule\n")}
	all, err := readSamples(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := all.apiVersion(); got != "tides.example.com/v1" {
		t.Errorf("the version is %q", got)
	}
	err = all.checkGroup("spotschedules.5spot.finos.org")
	if err == nil || err.Error() != "Off: the apiVersion of the manifest is tides.example.com/v1; the kind is of the group spotschedules.5spot.finos.org" {
		t.Errorf("got %v", err)
	}
	if err := all.checkGroup("tides.example.com"); err != nil {
		t.Error(err)
	}
}

func TestSamplesOfOneSpecAreNoEdit(t *testing.T) {
	const tide = "apiVersion: spotschedules.5spot.finos.org/v1\nkind: TideSchedule\nspec: {table: NAME}\n"
	for off, want := range map[string]Outcome{"high": Skipped, "low": Passed} {
		all, err := readSamples(&Options{
			Kind: "TideSchedule",
			On:   []byte(strings.Replace(tide, "NAME", "high", 1)), Off: []byte(strings.Replace(tide, "NAME", off, 1)),
		})
		if err != nil {
			t.Fatal(err)
		}
		check := byEdit(func(context.Context, *env) (finding, error) { return pass("") })
		if found, err := check(t.Context(), &env{samples: all}); err != nil || found.outcome != want {
			t.Errorf("from high to %s: got %v and %v, want %s", off, found, err, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/fivespot/fivespot/api/contract"
)

func TestEveryCheckSaysWhatItIs(t *testing.T) {
	id := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	rule := regexp.MustCompile(`^C[1-9][0-9]*$`)
	seen := map[string]bool{}
	var groups []Group
	for _, check := range Checks() {
		if !id.MatchString(check.ID) || seen[check.ID] {
			t.Errorf("the id %q is not in kebab-case, or not the only one", check.ID)
		}
		if !rule.MatchString(check.Rule) || check.Level != Required && check.Level != Recommended {
			t.Errorf("%s has the rule %q and the level %q", check.ID, check.Rule, check.Level)
		}
		if check.Title == "" || strings.HasSuffix(check.Title, ".") || !strings.HasSuffix(check.Advice, ".") {
			t.Errorf("%s: the title is no headline (%q), or the advice no sentence (%q)", check.ID, check.Title, check.Advice)
		}
		for _, need := range check.needs {
			if !seen[need] {
				t.Errorf("%s needs %s, which does not come before it", check.ID, need)
			}
		}
		seen[check.ID] = true
		if !slices.Contains(groups, check.Group) {
			groups = append(groups, check.Group)
		} else if groups[len(groups)-1] != check.Group {
			t.Errorf("%s is not beside the others of its group", check.ID)
		}
	}
	if diff := cmp.Diff([]Group{GroupDefinition, GroupAccount, GroupBehaviour, GroupFiveSpot}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// What published results say must not come to mean something else.
func TestIDsRulesAndLevelsAreStable(t *testing.T) {
	var lines strings.Builder
	for _, check := range Checks() {
		lines.WriteString(check.ID + " " + check.Rule + " " + string(check.Level) + "\n")
	}
	golden(t, "checks.txt", lines.String())
}

func TestLeavingChecksOut(t *testing.T) {
	tests := map[string]struct {
		only, skip []string
		want       []string // that are run
	}{
		"by only, with what it rests on": {only: []string{"crd-status-subresource"}, want: []string{"crd-group", "crd-status-subresource"}},
		"by both":                        {only: []string{"crd-status-subresource"}, skip: []string{"crd-group"}, want: []string{"crd-status-subresource"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			left := leftOut(test.only, test.skip)
			var got []string
			for _, check := range Checks() {
				if !left[check.ID] {
					got = append(got, check.ID)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what is run (-want +got):\n%s", diff)
			}
		})
	}
	left := leftOut(nil, []string{"crd-group"})
	if len(left) != 1 || !left["crd-group"] {
		t.Errorf("by skip alone, %v are left out", left)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	good := Options{Config: &rest.Config{}, Kind: "TideSchedule"}
	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"no config":       {func(o *Options) { o.Config = nil }, "Config"},
		"no kind":         {func(o *Options) { o.Kind = "" }, "Kind"},
		"negative time":   {func(o *Options) { o.IdleFor = -1 }, "ReactWithin, IdleFor and Patience"},
		"negative number": {func(o *Options) { o.Objects = -1 }, "Objects"},
		"unknown only":    {func(o *Options) { o.Only = []string{"tides"} }, "Only"},
		"unknown skip":    {func(o *Options) { o.Skip = []string{"tides"} }, "Skip"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := good
			test.change(&o)
			_, err := Run(t.Context(), o)
			option, is := err.(*OptionError) //nolint:errorlint // it is returned as it is
			if !is || option.Option != test.want || option.Problem == "" {
				t.Errorf("got %v, want an error about %s", err, test.want)
			}
		})
	}
}

func TestWhatIsFailedBeforeDecidesWhatIsLookedAt(t *testing.T) {
	tides := apiextensionsv1.CustomResourceDefinition{}
	tides.Spec.Group, tides.Spec.Names.Kind = contract.Group, "TideSchedule"
	e := &env{options: &Options{Kind: "TideSchedule"}, definitions: []apiextensionsv1.CustomResourceDefinition{tides}}
	s := &session{env: e, options: Options{On: []byte("on")}, report: Report{Results: []Result{{ID: "crd-namespaced", Outcome: Failed}}}}
	tests := map[string]struct {
		check Check
		want  finding
	}{
		"what rests on it": {Check{needs: []string{"status-appears"}}, finding{Skipped, "it says nothing while crd-namespaced fails"}},
		"what lacks something beside": {
			Check{needs: []string{"status-appears"}, uses: []given{givenOff}},
			finding{Skipped, "it says nothing while crd-namespaced fails"},
		},
		"what lacks something": {Check{needs: []string{"crd-group"}, uses: []given{givenOn, givenOff}}, finding{Skipped, string(givenOff)}},
		"what does not":        {Check{needs: []string{"crd-group"}, uses: []given{givenOn}}, finding{Passed, "seen"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.check.run = func(context.Context, *env) (finding, error) { return pass("seen") }
			got, err := s.look(t.Context(), &test.check)
			if err != nil || got != test.want {
				t.Errorf("got %v and %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestAFewObjectsAreNotMany(t *testing.T) {
	found, err := manyAreDecided(t.Context(), &env{options: &Options{Objects: atOnce - 1}})
	if err != nil || found.outcome != Skipped {
		t.Errorf("got %v and %v", found, err)
	}
}

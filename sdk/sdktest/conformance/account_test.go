// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestDeclaredReads(t *testing.T) {
	declared := []string{"secrets", "tides.spotschedules.5spot.finos.org", "*.moons.example.com"}
	for q, want := range map[question]bool{
		{verb: "get", group: "", resource: "secrets", subresource: ""}:                                  true,
		{verb: "patch", group: "", resource: "secrets", subresource: ""}:                                false,
		{verb: "get", group: "", resource: "configmaps", subresource: ""}:                               false,
		{verb: "watch", group: "spotschedules.5spot.finos.org", resource: "tides", subresource: ""}:     true,
		{verb: "get", group: "spotschedules.5spot.finos.org", resource: "tides", subresource: "status"}: false,
		{verb: "list", group: "spotschedules.5spot.finos.org", resource: "floods", subresource: ""}:     false,
		{verb: "list", group: "moons.example.com", resource: "*", subresource: ""}:                      true,
		{verb: "list", group: "moons.example.com", resource: "phases", subresource: ""}:                 true,
		{verb: "*", group: "moons.example.com", resource: "phases", subresource: ""}:                    false,
		{verb: "list", group: "*", resource: "*", subresource: ""}:                                      false,
	} {
		if got := mayRead(declared, q); got != want {
			t.Errorf("%s is declared: %t, want %t", q, got, want)
		}
	}
}

func TestQuestionsAreNamedAsRBACNamesThem(t *testing.T) {
	all := append(on("", "secrets", "get"), on("apps", "deployments/scale", "update", "patch")...)
	if diff := cmp.Diff("get secrets, update deployments/scale.apps, patch deployments/scale.apps", listed(all)); diff != "" {
		t.Error(diff)
	}
	if got, want := listed([]question{{verb: "get", path: "*"}}), "get the non-resource URL *"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := listed(on("", "pods", writeVerbs...)), "create pods, update pods, patch pods, delete pods, deletecollection pods"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := listed(append(on("", "pods", writeVerbs...), on("", "pods", readVerbs...)...)), "create pods, update pods, patch pods, delete pods, deletecollection pods and 3 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOtherKindsAreAskedForOnceEach(t *testing.T) {
	kind := func(group, kind, plural string) apiextensionsv1.CustomResourceDefinition {
		d := apiextensionsv1.CustomResourceDefinition{}
		d.Spec.Group, d.Spec.Names.Kind, d.Spec.Names.Plural = group, kind, plural
		return d
	}
	e := &env{options: &Options{Kind: "TideSchedule"}, definitions: []apiextensionsv1.CustomResourceDefinition{
		kind("spotschedules.5spot.finos.org", "TideSchedule", "tideschedules"),
		kind("spotschedules.5spot.finos.org", "ManualSchedule", "manualschedules"),
		kind("spotschedules.5spot.finos.org", "MoonSchedule", "moonschedules"),
		kind("example.com", "Widget", "widgets"),
	}}
	count := map[string]int{}
	for _, q := range scheduleQuestions(e) {
		count[q.resource]++
	}
	want := map[string]int{"capitalmarketsschedules": 11, "manualschedules": 11, "moonschedules": 11, "timebasedspotschedules": 11}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("questions by resource (-want +got):\n%s", diff)
	}
}

func TestANoTakesALookAtEveryRule(t *testing.T) {
	one := on("", "secrets", "get")
	tests := map[string]struct {
		answers answers
		want    Outcome
	}{
		"each is a no":                {answers{lacks: one}, Passed},
		"one is a yes":                {answers{may: one}, Failed},
		"a no of a server in trouble": {answers{lacks: one, trouble: "no answer from the webhook"}, Skipped},
		"a yes all the same":          {answers{may: one, trouble: "no answer from the webhook"}, Failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := test.answers.refuse()
			if err != nil || found.outcome != test.want {
				t.Errorf("got %v and %v, want %s", found, err, test.want)
			}
		})
	}
}

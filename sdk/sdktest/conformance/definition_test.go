// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
)

// versionOf makes a version of a CRD with this schema of the status.
func versionOf(t *testing.T, status string) *apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	v := &apiextensionsv1.CustomResourceDefinitionVersion{}
	text := "{name: v1, schema: {openAPIV3Schema: {type: object, properties: {status: " + status + "}}}}"
	if err := yaml.UnmarshalStrict([]byte(text), v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatASchemaKeeps(t *testing.T) {
	const (
		condition = `{type: object, properties: {type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}, lastTransitionTime: {type: string}}}`
		full      = `{type: object, properties: {active: {type: boolean}, observedGeneration: {type: integer}, lastTransitionTime: {type: string}, conditions: {type: array, items: ` + condition + `}}}`
		open      = `{type: object, x-kubernetes-preserve-unknown-fields: true}`
	)
	tests := map[string]struct {
		status                                string
		active, conditions, generation, moved string
	}{
		"the contract's": {status: full},
		"nothing": {
			status: `{type: object}`,
			active: "the schema does not declare status.active", conditions: "status.conditions is pruned",
			generation: "status.observedGeneration is pruned", moved: "status.lastTransitionTime is pruned",
		},
		"everything, undeclared": {status: open, active: "the schema does not declare status.active"},
		"everything, as additional properties": {
			status: `{type: object, additionalProperties: true}`, active: "the schema does not declare status.active",
		},
		"other types": {
			status: `{type: object, properties: {active: {type: string}, observedGeneration: {type: string}, lastTransitionTime: {type: integer}, conditions: {type: object}}}`,
			active: "status.active is declared as string", conditions: "status.conditions is declared as object, not as array",
			generation: "status.observedGeneration is declared as string, not as integer",
			moved:      "status.lastTransitionTime is declared as integer, not as string",
		},
		"any type": {
			status: `{type: object, properties: {active: ` + open + `, observedGeneration: {x-kubernetes-preserve-unknown-fields: true}, lastTransitionTime: {x-kubernetes-preserve-unknown-fields: true}, conditions: {type: array, items: ` + open + `}}}`,
			active: "status.active is declared as object",
		},
		"conditions in part": {
			status:     strings.Replace(full, "reason: {type: string}, ", "", 1),
			conditions: "status.conditions[].reason is pruned",
		},
		"conditions without items": {
			status:     strings.Replace(full, ", items: "+condition, "", 1),
			conditions: "status.conditions[].type is pruned, status.conditions[].status is pruned, status.conditions[].reason is pruned, status.conditions[].message is pruned, status.conditions[].lastTransitionTime is pruned",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := versionOf(t, test.status)
			got := []string{activeIsNoBoolean(v), conditionsPruned(v), observedGenerationPruned(v), transitionTimePruned(v)}
			want := []string{test.active, test.conditions, test.generation, test.moved}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what is wrong (-want +got):\n%s", diff)
			}
		})
	}
	if got := activeIsNoBoolean(&apiextensionsv1.CustomResourceDefinitionVersion{}); got == "" {
		t.Error("a version without a schema is fine")
	}
}

func TestDefaultsOfActive(t *testing.T) {
	tests := map[string]struct{ status, want string }{
		"none":             {`{type: object, properties: {active: {type: boolean}}}`, ""},
		"of the field":     {`{type: object, properties: {active: {type: boolean, default: false}}}`, "the schema has the default false at .status.active"},
		"of the status":    {`{type: object, default: {active: true}, properties: {active: {type: boolean}}}`, `the schema has the default {"active":true} at .status`},
		"of a like word":   {`{type: object, default: {phase: active}, properties: {active: {type: boolean}, phase: {type: string}}}`, ""},
		"of another field": {`{type: object, default: {phase: New}, properties: {active: {type: boolean}, phase: {type: string, default: New}}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := activeHasDefault(versionOf(t, test.status)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrinterColumn(t *testing.T) {
	const none = "no printer column shows .status.active"
	for text, want := range map[string]string{
		`[{name: Active, type: boolean, jsonPath: .status.active}]`:  "",
		`[{name: ACTIVE, type: boolean, jsonPath: $.status.active}]`: "",
		`[]`: none,
		`[{name: Active, type: boolean, jsonPath: .spec.active}]`:                                                      none,
		`[{name: Up, type: boolean, jsonPath: .status.active}]`:                                                        "the printer column for .status.active is Up, not Active",
		`[{name: Active, type: boolean, jsonPath: .status.active, priority: 1}]`:                                       "the printer column for .status.active is left out without -o wide: its priority is 1, not 0",
		`[{name: Up, jsonPath: .status.active, priority: 1}, {name: Active, type: boolean, jsonPath: .status.active}]`: "",
	} {
		v := &apiextensionsv1.CustomResourceDefinitionVersion{}
		if err := yaml.UnmarshalStrict([]byte(text), &v.AdditionalPrinterColumns); err != nil {
			t.Fatal(err)
		}
		if got := noActiveColumn(v); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestServing(t *testing.T) {
	tests := map[string]struct{ crd, wanted, want string }{
		"established":          {crd: established, want: ""},
		"at a version":         {crd: established, wanted: "spotschedules.5spot.finos.org/v1", want: ""},
		"at no such version":   {crd: established, wanted: "v2", want: "the version v2 is not served; served: v1"},
		"at no version":        {crd: strings.Replace(established, "served: true", "served: false", 1), want: "no version of the CRD is served"},
		"not yet":              {crd: strings.Replace(established, "Established, status: \"True\"", "Established, status: \"False\"", 1), want: "the CRD is not established"},
		"with names of others": {crd: strings.Replace(established, "NamesAccepted, status: \"True\"", "NamesAccepted, status: \"False\", message: taken", 1), want: "the CRD has the condition NamesAccepted=False: taken"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.UnmarshalStrict([]byte(test.crd), crd); err != nil {
				t.Fatal(err)
			}
			if got := notServed(crd, test.wanted); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

const established = `
spec:
  scope: Namespaced
  versions: [{name: v1, served: true}, {name: v0, served: false}]
status:
  conditions:
    - {type: NamesAccepted, status: "True"}
    - {type: Established, status: "True"}
`

func TestNothingIsSaidOfVersionsThatAreNotServed(t *testing.T) {
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(established, "served: true", "served: false", 1)), &crd); err != nil {
		t.Fatal(err)
	}
	crd.Spec.Group, crd.Spec.Names.Kind = contract.Group, "TideSchedule"
	e := &env{options: &Options{Kind: "TideSchedule"}, definitions: []apiextensionsv1.CustomResourceDefinition{crd}}
	for _, id := range []string{idSubresource, idNoDefault, "crd-active-boolean", "crd-printer-column"} {
		if found, err := find(id).run(t.Context(), e); err != nil || found.outcome != Skipped {
			t.Errorf("%s: got %v and %v", id, found, err)
		}
	}
}

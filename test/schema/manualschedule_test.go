// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestManualSchedule(t *testing.T) {
	until := func(value string) string { return fmt.Sprintf(`{"spec": {"until": %q}}`, value) }
	rows := map[string]validity{
		"as it is":         accepted(``),
		"without a spec":   refused(`{"spec": null}`, required("spec")),
		"without enabled":  refused(`{"spec": {"enabled": null}}`, required("spec.enabled")),
		"enabled a string": refused(`{"spec": {"enabled": "true"}}`, wrongType("spec.enabled", "string", "boolean")),
		"reason":           accepted(`{"spec": {"reason": "quarter end"}}`),
		"reason of 1024":   accepted(`{"spec": {"reason": "` + strings.Repeat("r", 1024) + `"}}`),
		"reason of 1025":   refused(`{"spec": {"reason": "`+strings.Repeat("r", 1025)+`"}}`, "spec.reason: Too long: may not be more than 1024 bytes"),
	}
	for _, instant := range []string{
		"2026-06-15T20:00:00Z", "2026-06-15T16:00:00-04:00", "2026-06-15T20:00:00.5Z", "2026-06-15T20:00:00.123456789+05:45", "2028-02-29T00:00:00Z",
	} {
		rows["until "+instant] = accepted(until(instant))
	}
	pattern := untilSchema(t).Pattern
	for _, instant := range []string{
		"2026-06-15t20:00:00z", "2026-06-15T20:00:00zt", "2026-06-15T20:00:00x5Z", "2026-06-15T20:00:00+99:00", "0000-01-01T00:00:00Z",
	} { // of the format date-time, and yet nothing that Go's RFC 3339 knows
		rows["until "+instant] = refused(until(instant), mismatch("spec.until", instant, pattern))
	}
	for _, instant := range []string{"", "tomorrow", "2026-06-15", "2026-06-15T20:00:00", "2026-06-15 20:00:00Z", "2026-06-15T24:00:00Z", "2026-13-01T20:00:00Z"} {
		rows[fmt.Sprintf("until %q", instant)] = refused(until(instant), mismatch("spec.until", instant, pattern),
			fmt.Sprintf(`spec.until: Invalid value: %q: spec.until in body must be of type date-time: %q`, instant, instant))
	}
	for _, instant := range []string{"2026-02-30T20:00:00Z", "2027-02-29T20:00:00Z"} { // no such day
		rows["until "+instant] = refused(until(instant),
			fmt.Sprintf(`spec.until: Invalid value: %q: spec.until in body must be of type date-time: %q`, instant, instant))
	}
	testValidity(t, smallestManual, rows)
}

// One object that Go cannot decode would keep a provider from listing any of
// its kind, so whatever the API server lets through must be decodable.
func TestEveryAcceptedInstantDecodes(t *testing.T) {
	schema := untilSchema(t)
	if schema.Format != "date-time" {
		t.Fatalf("spec.until has format %q", schema.Format)
	}
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.StringMatching(schema.Pattern).Draw(t, "instant")
		if !strfmt.IsDateTime(instant) {
			return // the API server refuses it by the format
		}
		text, err := json.Marshal(instant)
		if err != nil {
			t.Fatal(err)
		}
		var decoded metav1.Time
		if err := decoded.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		if _, err := decoded.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
	})
}

func untilSchema(t *testing.T) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	crd := readCRD(t, "../../deploy/crds/spotschedules.5spot.finos.org_manualschedules.yaml")
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["until"]
}

func readCRD(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	return crd
}

// The guide's CRD and ours are one and the same to whoever has objects of one
// of them, or a controller that writes their status.
func TestManualScheduleIsTheGuides(t *testing.T) {
	guide := readCRD(t, "testdata/guide-manualschedule-crd.yaml")
	ours := readCRD(t, "../../deploy/crds/spotschedules.5spot.finos.org_manualschedules.yaml")
	if diff := cmp.Diff(outside(guide), outside(ours)); diff != "" {
		t.Errorf("names, versions and columns (-guide +ours):\n%s", diff)
	}

	// The guide's, beside ours, under another name.
	guide.Name = "guideschedules.spotschedules.5spot.finos.org"
	guide.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "GuideSchedule", ListKind: "GuideScheduleList", Plural: "guideschedules", Singular: "guideschedule"}
	guide.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	text, err := yaml.Marshal(guide)
	if err != nil {
		t.Fatal(err)
	}
	devplanetest.Apply(t, text)

	const guidesStatus = `{"status": {"active": true, "observedGeneration": 1, "lastTransitionTime": "2026-06-15T13:30:00Z", "conditions": [
		{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "manual toggle applied", "lastTransitionTime": "2026-06-15T13:30:00Z"}]}}`
	tests := map[string]struct {
		patch, status      string
		wantSpec, wantStat bool // accepted
	}{
		"on":                          {patch: `{"spec": {"enabled": true}}`, status: guidesStatus, wantSpec: true, wantStat: true},
		"off, active only":            {patch: ``, status: `{"status": {"active": false}}`, wantSpec: true, wantStat: true},
		"labels and annotations":      {patch: `{"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}`, wantSpec: true},
		"no longer active":            {patch: ``, status: `{"status": {"active": null}}`, wantSpec: true, wantStat: true},
		"without conditions":          {patch: ``, status: `{"status": {"conditions": []}}`, wantSpec: true, wantStat: true},
		"Ready False":                 {patch: ``, status: strings.Replace(guidesStatus, `"status": "True"`, `"status": "False"`, 1), wantSpec: true, wantStat: true},
		"Ready Unknown":               {patch: ``, status: strings.Replace(guidesStatus, `"status": "True"`, `"status": "Unknown"`, 1), wantSpec: true, wantStat: true},
		"an empty message":            {patch: ``, status: strings.Replace(guidesStatus, `manual toggle applied`, ``, 1), wantSpec: true, wantStat: true},
		"active a string":             {patch: ``, status: `{"status": {"active": "true"}}`, wantSpec: true},
		"observedGeneration a string": {patch: ``, status: `{"status": {"observedGeneration": "1"}}`, wantSpec: true},
		"conditions a map":            {patch: ``, status: `{"status": {"conditions": {"Ready": "True"}}}`, wantSpec: true},
		"without enabled":             {patch: `{"spec": {"enabled": null}}`},
		"enabled a string":            {patch: `{"spec": {"enabled": "yes"}}`},
	}
	for name, test := range tests {
		for _, kind := range []string{"GuideSchedule", "ManualSchedule"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				object := with(t, smallestManual, test.patch)
				object.SetKind(kind)
				object.SetNamespace(devplanetest.Namespace(t))
				if err := cluster.Create(t.Context(), object); (err == nil) != test.wantSpec {
					t.Fatalf("creating it: %v, want it accepted: %t", err, test.wantSpec)
				}
				if test.status == "" {
					return
				}
				err := cluster.Status().Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(test.status)))
				if (err == nil) != test.wantStat {
					t.Errorf("patching its status: %v, want it accepted: %t", err, test.wantStat)
				}
			})
		}
	}
}

// outside is what a user sees of a CRD apart from its schema.
func outside(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.CustomResourceDefinitionSpec {
	spec := *crd.Spec.DeepCopy()
	if spec.Names.ListKind == "" {
		spec.Names.ListKind = spec.Names.Kind + "List" // what the API server fills in
	}
	for i := range spec.Versions {
		spec.Versions[i].Schema = nil
	}
	return spec
}

// Whoever followed the guide and then installs 5-Spot keeps objects and verdicts.
func TestMovingOverFromTheGuidesCRD(t *testing.T) {
	crd := readCRD(t, "testdata/guide-manualschedule-crd.yaml")
	crd.Name = "movingschedules.spotschedules.5spot.finos.org"
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "MovingSchedule", ListKind: "MovingScheduleList", Plural: "movingschedules", Singular: "movingschedule"}
	install := func() {
		t.Helper()
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		text, err := yaml.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		devplanetest.Apply(t, text)
	}
	install()
	object := with(t, smallestManual, `{"spec": {"enabled": true}}`)
	object.SetKind("MovingSchedule")
	object.SetNamespace(devplanetest.Namespace(t))
	create(t, object, `{"status": {"active": true, "observedGeneration": 1, "lastTransitionTime": "2026-06-15T13:30:00Z"}}`)
	want := object.DeepCopy()

	ours := readCRD(t, "../../deploy/crds/spotschedules.5spot.finos.org_manualschedules.yaml")
	crd.Spec.Versions = ours.Spec.Versions
	install()
	// When the API server goes by the new schema is told by no event.
	stricter := with(t, smallestManual, `{"spec": {"reason": 7}}`)
	stricter.SetKind("MovingSchedule")
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 20*time.Millisecond, true, func(context.Context) (bool, error) {
		_, err := check(t, stricter)
		return err != nil, nil
	})
	if err != nil {
		t.Fatalf("waiting for the new schema: %v", err)
	}

	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(object.GroupVersionKind())
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the object after its CRD was replaced (-want +got):\n%s", diff)
	}
	if err := cluster.Patch(t.Context(), got, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"enabled": false}}`))); err != nil {
		t.Errorf("flipping the toggle: %v", err)
	}
}

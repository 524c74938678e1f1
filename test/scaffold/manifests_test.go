// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// With what is printed installed, an account can do all that a provider has to
// do, in any language, and nothing else.
func TestManifestsAreAllThatAProviderNeeds(t *testing.T) {
	said := kubectl(t, string(fivespot(t, "manifests", "--kind", "NightSchedule")), "apply", "--server-side", "-f", "-")
	if strings.Contains(said, "Warning") {
		t.Errorf("kubectl warns:\n%s", said)
	}
	devplanetest.AwaitCRD(t, "nightschedules."+contract.Group)
	night := devplanetest.ApplyIn(t, devplanetest.Namespace(t), []byte(`
apiVersion: spotschedules.5spot.finos.org/v1alpha1
kind: NightSchedule
metadata: {name: ward}
spec: {anything: [goes, {in: here}]}
`))[0]
	if got, _, _ := unstructured.NestedSlice(night.Object, "spec", "anything"); len(got) != 2 {
		t.Errorf("of the spec is left %v", night.Object["spec"])
	}

	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), "5spot-system", "night-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	provider := devplanetest.ClientFor(t, config)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(night.GroupVersionKind())
	if err := provider.List(t.Context(), list); err != nil || len(list.Items) == 0 {
		t.Errorf("listing all schedules gave %d, %v", len(list.Items), err)
	}
	verdict := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"active": true, "observedGeneration": 1}}`))
	if err := provider.Status().Patch(t.Context(), night.DeepCopy(), verdict); err != nil {
		t.Error(err)
	}
	awaitReads(t, night, contract.Active)
	if err := provider.Patch(t.Context(), night, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"mine": true}}`))); !apierrors.IsForbidden(err) {
		t.Errorf("writing the spec: %v, want it forbidden", err)
	}
}

// The API server holds the spec against the schema that the author gave.
func TestManifestsWithASchema(t *testing.T) {
	schema := root + "/internal/cli/provider/testdata/spec.yaml"
	devplanetest.Apply(t, fivespot(t, "manifests", "--kind", "DeskWatch", "--spec-schema", schema, "--version", "v1beta2"))
	strict := client.WithFieldValidation(devplanetest.Client(t), metav1.FieldValidationStrict)
	for spec, want := range map[string]string{
		`{open: true, seats: 2}`: "",
		`{open: "yes"}`:          "spec.open",
		`{seats: 2}`:             "spec.open: Required value",
		`{open: true, sests: 2}`: `unknown field "spec.sests"`,
	} {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(contract.Group + "/v1beta2")
		object.SetKind("DeskWatch")
		object.SetName("desk")
		object.SetNamespace("default")
		parse(t, "spec: "+spec, object)
		err := strict.Create(t.Context(), object, client.DryRunAll)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("spec %s: %v, want %q", spec, err, want)
		}
	}
}

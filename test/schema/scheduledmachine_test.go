// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestDefaults(t *testing.T) {
	tests := map[string]struct{ patch, path, want string }{
		"of a machine that says the least": {``, `spec`, `{
			"schedule": {"apiVersion": "spotschedules.5spot.finos.org/v1alpha1", "kind": "ManualSchedule", "name": "desk"},
			"clusterName": "trading",
			"bootstrapSpec": {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "spec": {}},
			"infrastructureSpec": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachine", "spec": {}},
			"enabled": true,
			"priority": 50,
			"gracefulShutdownTimeout": "5m",
			"nodeDrainTimeout": "5m", "provisioningTimeout": "30m",
			"killSwitch": false
		}`},
		"of a machine template":     {`{"spec": {"machineTemplate": {}}}`, `spec.machineTemplate`, `{"labels": {}, "annotations": {}}`},
		"of a kubeconfig reference": {`{"spec": {"kubeconfigSecretRef": {"name": "a"}}}`, `spec.kubeconfigSecretRef`, `{"name": "a", "key": "value"}`},
		"of a Kata configuration": {`{"spec": {"kata": {"kind": "Secret", "name": "a"}}}`, `spec.kata`, `{
			"kind": "Secret", "name": "a", "namespace": "5spot-system", "key": "kata-containers.toml", "restartService": "k0sworker.service"
		}`},
		"give way to what is said": {
			`{"spec": {"enabled": false, "priority": 0, "gracefulShutdownTimeout": "0s", "nodeDrainTimeout": "1h", "killSwitch": true, "nodeTaints": []}}`, `spec`, `{
			"schedule": {"apiVersion": "spotschedules.5spot.finos.org/v1alpha1", "kind": "ManualSchedule", "name": "desk"},
			"clusterName": "trading",
			"bootstrapSpec": {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "spec": {}},
			"infrastructureSpec": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachine", "spec": {}},
			"enabled": false,
			"priority": 0,
			"gracefulShutdownTimeout": "0s",
			"nodeDrainTimeout": "1h", "provisioningTimeout": "30m",
			"killSwitch": true,
			"nodeTaints": []
		}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored, err := check(t, with(t, smallestMachine, test.patch))
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			got, _, err := unstructured.NestedMap(stored.Object, strings.Split(test.path, ".")...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fields(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.path, diff)
			}
		})
	}
}

// A field that is set to null is as good as absent, whether by kubectl's null
// or a template's empty value.
func TestNullIsAbsent(t *testing.T) {
	object := parse(t, smallestMachine)
	spec := object.Object["spec"].(map[string]any)
	for _, field := range []string{"enabled", "priority", "gracefulShutdownTimeout", "nodeDrainTimeout", "provisioningTimeout", "killSwitch", "machineTemplate"} {
		spec[field] = nil
	}
	stored, err := check(t, object)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	decode(t, stored)
	want := map[string]any{
		"enabled": true, "priority": int64(50), "gracefulShutdownTimeout": "5m", "nodeDrainTimeout": "5m", "provisioningTimeout": "30m", "killSwitch": false, "machineTemplate": nil,
	}
	got := map[string]any{}
	for field := range want {
		got[field] = stored.Object["spec"].(map[string]any)[field]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

// What 5-Spot does not know is not its to change: an embedded spec comes back
// as it went in, also after a Go client has edited the object.
func TestEmbeddedSpecsSurvive(t *testing.T) {
	const spec = `{
		"joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [{"name": "a", "value": ""}], "taints": []}},
		"aNumber": 9007199254740993, "aFraction": 1.5, "aNull": null, "anEmpty": {}, "mixed": [1, "a", [true], {"b": null}],
		"apiVersion": "of something else", "metadata": {"name": "allowed in here"}
	}`
	const metadata = `{"labels": {"team": "rates"}, "annotations": {"note": ""}, "aKeyOfLater": {"a": [1]}}`
	object := with(t, smallestMachine, `{"metadata": {"name": "survivor"}}`)
	object.SetNamespace(devplanetest.Namespace(t))
	for _, field := range []string{"bootstrapSpec", "infrastructureSpec"} {
		embedded := object.Object["spec"].(map[string]any)[field].(map[string]any)
		embedded["spec"], embedded["metadata"] = fields(t, spec), fields(t, metadata)
	}
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}

	typed := &v1beta1.ScheduledMachine{}
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), typed); err != nil {
		t.Fatal(err)
	}
	before := typed.DeepCopy()
	typed.Spec.KillSwitch = true
	typed.Finalizers = append(typed.Finalizers, "example.com/for-a-while")
	if err := cluster.Patch(t.Context(), typed, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	typed.Finalizers = nil
	if err := cluster.Update(t.Context(), typed); err != nil {
		t.Fatal(err)
	}

	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(object.GroupVersionKind())
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"bootstrapSpec", "infrastructureSpec"} {
		got := stored.Object["spec"].(map[string]any)[field].(map[string]any)
		if diff := cmp.Diff(fields(t, spec), got["spec"]); diff != "" {
			t.Errorf("%s.spec (-want +got):\n%s", field, diff)
		}
	}
}

// Keys that 5-Spot does not know are refused where the client asks for strict
// validation, as kubectl does, and dropped where it does not.
func TestUnknownKeys(t *testing.T) {
	object := with(t, smallestMachine, `{"spec": {"schedule": {"namespace": "other"}, "shedule": {}, "bootstrapSpec": {"metadata": {"finalizers": ["a"]}}}}`)

	strict := object.DeepCopy()
	err := cluster.Create(t.Context(), strict, client.DryRunAll, client.FieldValidation("Strict"))
	for _, want := range []string{`unknown field "spec.schedule.namespace"`, `unknown field "spec.shedule"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("strict validation says %v, want it to contain %s", err, want)
		}
	}

	stored, err := check(t, object)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	if _, kept, _ := unstructured.NestedString(stored.Object, "spec", "schedule", "namespace"); kept {
		t.Error("a schedule reference keeps a namespace, which it cannot have")
	}
	if _, kept, _ := unstructured.NestedSlice(stored.Object, "spec", "bootstrapSpec", "metadata", "finalizers"); !kept {
		t.Error("embedded metadata loses a key that a later version may honour")
	}
}

func TestStatusIsASubresource(t *testing.T) {
	object := with(t, smallestMachine, `{"metadata": {"name": "statusful"}, "status": {"phase": "Active"}}`)
	object.SetNamespace(devplanetest.Namespace(t))
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if _, found := object.Object["status"]; found {
		t.Errorf("a status was taken from a create: %v", object.Object["status"])
	}

	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"killSwitch": true}, "status": {"phase": "Active", "message": "up"}}`))
	if err := cluster.Status().Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
	if generation := object.GetGeneration(); generation != 1 {
		t.Errorf("a change of status made generation %d", generation)
	}
	if thrown, _, _ := unstructured.NestedBool(object.Object, "spec", "killSwitch"); thrown {
		t.Error("a patch of the status changed the spec")
	}
	if diff := cmp.Diff(fields(t, `{"phase": "Active", "message": "up", "inSchedule": false, "ready": false}`), object.Object["status"]); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}

	if err := cluster.Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
	if generation := object.GetGeneration(); generation != 2 {
		t.Errorf("a change of spec left generation %d", generation)
	}
}

func TestStatusRefusesTwoConditionsOfAType(t *testing.T) {
	object := with(t, smallestMachine, `{"metadata": {"name": "twice"}}`)
	object.SetNamespace(devplanetest.Namespace(t))
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	const condition = `{"type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-06-15T13:30:00Z"}`
	err := cluster.Status().Patch(t.Context(), object,
		client.RawPatch("application/merge-patch+json", []byte(`{"status": {"conditions": [`+condition+`, `+condition+`]}}`)))
	if got, want := strings.Join(complaints(err), "\n"), `status.conditions[1]: Duplicate value: {"type":"Ready"}`; got != want {
		t.Errorf("refused with %s, want %s", got, want)
	}
}

// Two people who apply their own taint each do not undo the other's.
func TestNodeTaintsMergeByKeyAndEffect(t *testing.T) {
	object := with(t, smallestMachine, `{"metadata": {"name": "tainted"}}`)
	object.SetNamespace(devplanetest.Namespace(t))
	apply := func(manager, taint string) {
		t.Helper()
		configuration := object.DeepCopy()
		configuration.Object["spec"].(map[string]any)["nodeTaints"] = []any{fields(t, taint)}
		if err := cluster.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner(manager)); err != nil {
			t.Fatal(err)
		}
	}
	apply("ann", `{"key": "a", "effect": "NoSchedule"}`)
	apply("bob", `{"key": "a", "effect": "NoExecute"}`)
	apply("ann", `{"key": "a", "effect": "NoSchedule", "value": "x"}`)

	typed := &v1beta1.ScheduledMachine{}
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), typed); err != nil {
		t.Fatal(err)
	}
	want := []v1beta1.NodeTaint{{Key: "a", Value: "x", Effect: "NoSchedule"}, {Key: "a", Effect: "NoExecute"}}
	if diff := cmp.Diff(want, typed.Spec.NodeTaints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
}

// fields decodes JSON as a client of the API server does.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	object := &unstructured.Unstructured{}
	wrapped, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Wrapper", "inner": json.RawMessage(text)})
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	if err := object.UnmarshalJSON(wrapped); err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return object.Object["inner"].(map[string]any)
}

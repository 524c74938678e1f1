// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestAForeignObjectOfTheSameNameIsNeverAdopted(t *testing.T) {
	t.Parallel()
	for name, foreign := range map[string]func(*desk) *unstructured.Unstructured{
		"Machine": func(d *desk) *unstructured.Unstructured {
			u := d.object(machineKind, "rack")
			u.Object["spec"] = map[string]any{
				"clusterName": "other",
				"bootstrap":   map[string]any{"dataSecretName": "s"},
				"infrastructureRef": map[string]any{
					"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": "other",
				},
			}
			return u
		},
		"infrastructure object with our label": func(d *desk) *unstructured.Unstructured {
			u := d.object(infrastructureKind, "rack")
			u.Object["spec"] = map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}}
			u.SetLabels(map[string]string{v1beta1.LabelScheduledMachine: "rack"})
			return u
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			object := foreign(d)
			if err := d.client.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			d.schedule(true)
			sm := d.machine("rack")
			d.awaitPhase(sm, v1beta1.PhaseError)
			ready := d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineCreationFailed)
			if !strings.Contains(ready.Message, "does not belong to this ScheduledMachine") {
				t.Errorf("the condition says %q", ready.Message)
			}
			before := object.GetResourceVersion()
			d.reconcile20(sm)
			if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if object.GetResourceVersion() != before {
				t.Error("the foreign object was written")
			}

			if err := d.client.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			d.reconcile20(sm)
			d.runMachine("rack")
			d.awaitPhase(sm, v1beta1.PhaseActive)
		})
	}
}

func TestCreationGoesOnWhereACrashLeftIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack")
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	d.stop()
	for _, kind := range []metav1.TypeMeta{bootstrapKind, infrastructureKind} {
		u := d.object(kind, "rack")
		u.SetLabels(map[string]string{v1beta1.LabelScheduledMachine: "rack"})
		u.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: v1beta1.GroupVersion.String(), Kind: "ScheduledMachine", Name: "rack", UID: sm.UID,
		}})
		u.Object["spec"] = map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}}
		if kind == bootstrapKind {
			u.Object["spec"] = map[string]any{"format": "cloud-config"}
		}
		if err := d.client.Create(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	d.schedule(true)
	d.start()
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
}

func TestWhatACrashLeftIsRemovedWhenTheScheduleIsInactive(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	d.stop()
	machine := d.object(machineKind, "rack")
	if err := d.client.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	d.schedule(false)
	d.start()
	for _, kind := range []metav1.TypeMeta{bootstrapKind, infrastructureKind} {
		d.awaitGone(kind, "rack")
	}
	d.awaitPhase(sm, v1beta1.PhaseInactive)
}

func TestASpecThatCannotBeUsedIsSaidByFieldAndPutRight(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.InfrastructureSpec.APIVersion = "apps/v1" })
	invalid := d.awaitReason(sm, v1beta1.ConditionReferencesValid, v1beta1.ReasonReferencesInvalid)
	if !strings.Contains(invalid.Message, "spec.infrastructureSpec.apiVersion") {
		t.Errorf("the condition says %q, want the field's path", invalid.Message)
	}
	d.awaitPhase(sm, v1beta1.PhaseError)
	d.patch(sm, "", `{"spec":{"infrastructureSpec":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2"}}}`)
	d.awaitObject(machineKind, "rack")
}

func TestAClusterThatIsMissingIsSaidAndItsComingIsEnough(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.ClusterName = "late" })
	invalid := d.awaitReason(sm, v1beta1.ConditionReferencesValid, v1beta1.ReasonReferencesInvalid)
	if !strings.HasPrefix(invalid.Message, "spec.clusterName: ") {
		t.Errorf("the condition says %q, want the field's path", invalid.Message)
	}

	cluster := d.object(metav1.TypeMeta{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster"}, "late")
	cluster.Object["spec"] = map[string]any{"controlPlaneRef": map[string]any{
		"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "late",
	}}
	if err := d.client.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	d.await(sm, func() error {
		if !strings.Contains(sm.Status.Message, "KubeadmControlPlane late") {
			return fmt.Errorf("message is %q", sm.Status.Message)
		}
		return nil
	})

	controlPlane := d.object(metav1.TypeMeta{APIVersion: "controlplane.cluster.x-k8s.io/v1beta2", Kind: "KubeadmControlPlane"}, "late")
	controlPlane.Object["spec"] = map[string]any{
		"version":           "v1.36.1",
		"kubeadmConfigSpec": map[string]any{"format": "cloud-config"},
		"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
			"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachineTemplate", "name": "late",
		}}},
	}
	if err := d.client.Create(t.Context(), controlPlane); err != nil {
		t.Fatal(err)
	}
	machine := d.awaitObject(machineKind, "rack")
	if version, _, _ := unstructured.NestedString(machine.Object, "spec", "version"); version != "v1.36.1" {
		t.Errorf("the Machine has version %q, want the control plane's", version)
	}
}

func TestNoMachineIsMadeInAClusterThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	cluster := d.awaitObject(metav1.TypeMeta{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster"}, "trading")
	d.patch(cluster, "", `{"metadata":{"finalizers":["test.example.com/hold"]}}`)
	if err := d.client.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	d.schedule(true)
	sm := d.machine("rack")
	invalid := d.awaitReason(sm, v1beta1.ConditionReferencesValid, v1beta1.ReasonReferencesInvalid)
	if !strings.Contains(invalid.Message, "being deleted") {
		t.Errorf("the condition says %q", invalid.Message)
	}
	d.awaitGone(machineKind, "rack")
	d.patch(cluster, "", `{"metadata":{"finalizers":null}}`)
	d.cluster()
	d.awaitObject(machineKind, "rack")
}

func TestAVersionInTheSpecWins(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.Version = "v1.35.7" })
	machine := d.awaitObject(machineKind, "rack")
	if version, _, _ := unstructured.NestedString(machine.Object, "spec", "version"); version != "v1.35.7" {
		t.Errorf("the Machine has version %q, want the spec's", version)
	}
}

// refused makes a ScheduledMachine whose infrastructure object the API server
// refuses, so that its bootstrap object exists alone.
func (d *desk) refused() *v1beta1.ScheduledMachine {
	d.Helper()
	d.schedule(true)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"backend":{"inMemory":"wrong"}}`)
	})
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineCreationFailed)
	d.awaitObject(bootstrapKind, "rack")
	return sm
}

func TestASpecPutRightBeforeTheMachineExistsIsUsedAsAWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm := d.refused()
	d.patch(sm, "", `{"spec":{"bootstrapSpec":{"spec":{"format":"ignition"}},"infrastructureSpec":{"spec":{"backend":{"inMemory":{}}}}}}`)
	d.awaitObject(machineKind, "rack")
	bootstrap := d.awaitObject(bootstrapKind, "rack")
	if format, _, _ := unstructured.NestedString(bootstrap.Object, "spec", "format"); format != "ignition" {
		t.Errorf("the machine is made from a bootstrap object with format %q, want that of the spec", format)
	}
}

func TestDeletionEndsWhereTheVersionOfTheSpecIsNotServed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm := d.refused()
	d.patch(sm, "", `{"spec":{"bootstrapSpec":{"apiVersion":"bootstrap.cluster.x-k8s.io/v1beta9"}}}`)
	if err := d.client.Delete(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, sm)
	d.awaitGone(bootstrapKind, "rack")
}

func TestAMachineThatLostItsLabelIsStillOurs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.patch(machine, "", `{"metadata":{"labels":{"5spot.finos.org/scheduled-machine":null}}}`)
	d.reconcile20(sm)
	if sm.Status.Phase != v1beta1.PhaseActive {
		t.Errorf("phase is %s: %s", sm.Status.Phase, sm.Status.Message)
	}
	d.schedule(false)
	for _, kind := range []metav1.TypeMeta{machineKind, bootstrapKind, infrastructureKind} {
		d.awaitGone(kind, "rack")
	}
	d.awaitPhase(sm, v1beta1.PhaseInactive)
}

// hardware is an infrastructure kind that is installed late.
const hardware = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lateracks.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: LateRack, listKind: LateRackList, plural: lateracks, singular: laterack}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func TestAnInfrastructureKindInstalledLaterIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.InfrastructureSpec.APIVersion, sm.Spec.InfrastructureSpec.Kind = "infrastructure.cluster.x-k8s.io/v1", "LateRack"
	})
	invalid := d.awaitReason(sm, v1beta1.ConditionReferencesValid, v1beta1.ReasonReferencesInvalid)
	if !strings.Contains(invalid.Message, "LateRack") {
		t.Errorf("the condition says %q, want the kind's name", invalid.Message)
	}
	devplanetest.Apply(t, []byte(hardware))
	machine := d.awaitObject(machineKind, "rack")
	kind, _, _ := unstructured.NestedString(machine.Object, "spec", "infrastructureRef", "kind")
	if kind != "LateRack" {
		t.Errorf("the Machine refers to kind %q", kind)
	}
}

// TestBothVersionsOfTheMachineAPI has a control plane of its own, whose Machine
// CRD it changes under the running controller.
func TestBothVersionsOfTheMachineAPI(t *testing.T) {
	t.Parallel()
	plane, err := devplane.Start(t.Context(), devplane.Options{Dir: t.TempDir(), NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, setup := range setups {
		if err := setup(plane); err != nil {
			t.Fatal(err)
		}
	}
	c := devplanetest.ClientFor(t, plane.Config())
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	crd.SetName("machines.cluster.x-k8s.io")
	serve := func(v1beta2 bool) {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			t.Fatal(err)
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions {
			fields := version.(map[string]any)
			fields["served"] = fields["name"] == "v1beta1" || v1beta2 && fields["name"] == "v1beta2"
		}
		if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
			t.Fatal(err)
		}
		if err := c.Update(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Create(t.Context(), namespaceNamed("desk")); err != nil {
		t.Fatal(err)
	}
	d := newDeskOn(t, plane, "desk")
	d.stop()
	serve(false) // of Machine only: the Cluster stays at v1beta2
	d.start()
	d.schedule(true)
	sm := d.machine("old")
	awaitVersion := func(sm *v1beta1.ScheduledMachine, version string) {
		t.Helper()
		if err := awaitOn(d, sm, func() error {
			if sm.Status.MachineRef == nil || sm.Status.MachineRef.APIVersion != "cluster.x-k8s.io/"+version {
				return fmt.Errorf("machineRef is %+v, want version %s: %s", sm.Status.MachineRef, version, sm.Status.Message)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	awaitVersion(sm, "v1beta1")

	serve(true)
	awaitVersion(sm, "v1beta2")
	if sm.Status.Phase == v1beta1.PhaseError {
		t.Errorf("after the upgrade: %s", sm.Status.Message)
	}
	awaitVersion(d.machine("new"), "v1beta2")
}

// SPDX-License-Identifier: Apache-2.0

package providers_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// The three ways keep to what the conformance kit does not look at.

func TestEachWayKeepsWhatOthersWrote(t *testing.T) {
	for _, e := range manual {
		t.Run(e.dir, func(t *testing.T) {
			e.install(t)
			p := e.start(t)
			desk := newToggle(localclustertest.Namespace(t), "desk-override")
			// Names where a careless reader would take them for the object's.
			desk.SetLabels(map[string]string{"name": "label", "namespace": "label"})
			desk.SetAnnotations(map[string]string{"name": `{"name":"x","spec":{"enabled":false}} \ ],`})
			create(t, desk)
			awaitState(t, desk, contract.Active)

			// A condition with as little as the guide's schema allows, before Ready.
			ready := status(desk, "conditions").([]any)[0]
			audited := map[string]any{"type": "Audited", "status": "True", "message": `by "ann" \ bob}`}
			update := desk.DeepCopy()
			if err := unstructured.SetNestedSlice(update.Object, []any{audited, ready}, "status", "conditions"); err != nil {
				t.Fatal(err)
			}
			if err := unstructured.SetNestedField(update.Object, "2026-01-02T03:04:05Z", "status", "lastTransitionTime"); err != nil {
				t.Fatal(err)
			}
			if err := localclustertest.Cluster(t).Client().Status().Update(t.Context(), update); err != nil {
				t.Fatal(err)
			}
			// An edit that flips nothing, yet has to be published.
			edit(t, desk, `{"metadata":{"labels":{"touched":"yes"}},"spec":null}`)
			edit(t, desk, `{"spec":{"enabled":true}}`)
			awaitState(t, desk, contract.Active)

			if got := status(desk, "lastTransitionTime"); got != "2026-01-02T03:04:05Z" {
				t.Errorf("lastTransitionTime moved to %v without a flip", got)
			}
			byType := map[any]any{}
			for _, entry := range status(desk, "conditions").([]any) {
				byType[entry.(map[string]any)["type"]] = entry
			}
			if len(byType) != 2 {
				t.Errorf("conditions are %v, want Audited and Ready", byType)
			}
			if diff := cmp.Diff(audited, byType["Audited"]); diff != "" {
				t.Errorf("the condition of another writer (-want +got):\n%s", diff)
			}
			stop(t, p)
		})
	}
}

func TestEachWayHoldsWhileTheSpecSaysNothing(t *testing.T) {
	for _, e := range manual {
		t.Run(e.dir, func(t *testing.T) {
			e.install(t)
			p := e.start(t)
			desk := create(t, newToggle(localclustertest.Namespace(t), "desk-override"))
			awaitState(t, desk, contract.Active)
			edit(t, desk, `{"spec":null}`)
			awaitState(t, desk, contract.Unresolved)
			if got := status(desk, "active"); got != true {
				t.Errorf("active is %v, want true as before", got)
			}
			silent := newToggle(desk.GetNamespace(), "silent")
			delete(silent.Object, "spec")
			create(t, silent)
			awaitState(t, silent, contract.Unresolved)
			if got := status(silent, "active"); got != nil {
				t.Errorf("active of one that never had a spec is %v, want none", got)
			}
			stop(t, p)
		})
	}
}

// A script has no library that would see to it.
func TestTheShellProviderComesBackAfterTheAPIServerRefusedIt(t *testing.T) {
	e := manual[2]
	e.install(t)
	kubectl(t, "delete", "clusterrolebinding", e.account)
	desk := create(t, newToggle(localclustertest.Namespace(t), "desk-override"))
	e.start(t)
	e.install(t)
	awaitState(t, desk, contract.Active)
}

// newToggle returns a ManualSchedule that is on.
func newToggle(namespace, name string) *unstructured.Unstructured {
	toggle := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"enabled": true}}}
	toggle.SetGroupVersionKind(schema.GroupVersionKind{Group: contract.Group, Version: "v1alpha1", Kind: "ManualSchedule"})
	toggle.SetNamespace(namespace)
	toggle.SetName(name)
	return toggle
}

func create(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := localclustertest.Cluster(t).Client().Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// edit applies a merge patch.
func edit(t *testing.T, object *unstructured.Unstructured, body string) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(body))
	if err := localclustertest.Cluster(t).Client().Patch(t.Context(), object, patch); err != nil {
		t.Fatal(err)
	}
}

// awaitState returns when readers of the contract come to the state, by a status
// that is about the spec as it is.
func awaitState(t *testing.T, object *unstructured.Unstructured, want contract.State) {
	t.Helper()
	generation := object.GetGeneration()
	err := await.Object(localclustertest.Context(t), localclustertest.Cluster(t).Client(), object, func() error {
		reading := contract.ReadObject(object)
		if reading.State != want || reading.ObservedGeneration == nil || *reading.ObservedGeneration < generation {
			return fmt.Errorf("it reads as %v: %s", reading.State, reading.Message)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func status(object *unstructured.Unstructured, field string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "status", field)
	return value
}

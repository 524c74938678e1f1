// SPDX-License-Identifier: Apache-2.0

package devplanetest_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fivespotv1beta1 "github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) {
	devplanetest.MainWith(m, devplane.Options{Disruption: true}, devplanetest.CRDs)
}

func TestOurKindsAreServed(t *testing.T) {
	err := devplanetest.Client(t).List(t.Context(), &fivespotv1beta1.ScheduledMachineList{})
	if err != nil {
		t.Error(err)
	}
}

// widgets is a kind of which nothing else knows, its first object in the same
// manifest.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.devplanetest.example.com
spec:
  group: devplanetest.example.com
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema: &any
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
    - name: v1alpha1
      served: false
      storage: false
      schema: *any
---
# an empty document
---
apiVersion: devplanetest.example.com/v1
kind: Widget
metadata:
  name: owner
`

func TestManifestWithADefinitionAndItsObject(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	objects := devplanetest.ApplyIn(t, namespace, []byte(widgets))
	if len(objects) != 2 {
		t.Fatalf("applied %d objects, want 2", len(objects))
	}
	definition, owner := objects[0], objects[1]
	if definition.GetNamespace() != "" || owner.GetNamespace() != namespace {
		t.Errorf("they are in %q and %q, want none and %q", definition.GetNamespace(), owner.GetNamespace(), namespace)
	}

	// The garbage collector learns of a new kind by itself.
	owned := &corev1.ConfigMap{}
	owned.Namespace, owned.Name = namespace, "owned"
	owned.SetOwnerReferences(ownerReferences(owner))
	c := devplanetest.Client(t)
	if err := c.Create(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner, client.PropagationPolicy("Foreground")); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, owner)
	devplanetest.AwaitGone(t, owned)
}

func TestDisruptionControllerKeepsBudgets(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	devplanetest.ApplyIn(t, namespace, []byte(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: guarded}}
`))
	budget := &policyv1.PodDisruptionBudget{}
	budget.Namespace, budget.Name = namespace, "budget"
	devplanetest.Await(t, budget, func() error {
		if budget.Status.ObservedGeneration != budget.Generation {
			return errors.New("the controller has not seen it")
		}
		return nil
	})
}

func TestNamespaceIsANewOneEachTime(t *testing.T) {
	first, second := devplanetest.Namespace(t), devplanetest.Namespace(t)
	if first == second {
		t.Errorf("both are %s", first)
	}
}

func ownerReferences(owner *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
	}}
}

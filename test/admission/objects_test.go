// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// What is required, and nothing else.
const (
	smallestMachine = `{
		"apiVersion": "5spot.finos.org/v1beta1",
		"kind": "ScheduledMachine",
		"metadata": {"name": "rack"},
		"spec": {
			"schedule": {"apiVersion": "spotschedules.5spot.finos.org/v1alpha1", "kind": "ManualSchedule", "name": "desk"},
			"clusterName": "trading",
			"bootstrapSpec": {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "spec": {}},
			"infrastructureSpec": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachine", "spec": {}}
		}
	}`
	smallestTimeBased = `{
		"apiVersion": "spotschedules.5spot.finos.org/v1alpha1",
		"kind": "TimeBasedSpotSchedule",
		"metadata": {"name": "nights"},
		"spec": {}
	}`
	smallestMarkets = `{
		"apiVersion": "spotschedules.5spot.finos.org/v1alpha1",
		"kind": "CapitalMarketsSchedule",
		"metadata": {"name": "market"},
		"spec": {}
	}`
)

// merged returns an object in JSON, changed by a JSON merge patch.
func merged(object, patch string) (*unstructured.Unstructured, error) {
	text, err := jsonpatch.MergePatch([]byte(object), []byte(patch))
	if err != nil {
		return nil, fmt.Errorf("patching the object with %s: %w", patch, err)
	}
	result := &unstructured.Unstructured{}
	return result, result.UnmarshalJSON(text)
}

// with is merged, in a namespace and at a version; "" leaves the version.
func with(t *testing.T, object, patch, namespace, version string) *unstructured.Unstructured {
	t.Helper()
	result, err := merged(object, patch)
	if err != nil {
		t.Fatal(err)
	}
	result.SetNamespace(namespace)
	if version != "" {
		gvk := result.GroupVersionKind()
		gvk.Version = version
		result.SetGroupVersionKind(gvk)
	}
	return result
}

// patched asks what a merge patch would make of a stored object; nothing is
// stored.
func patched(t *testing.T, c client.Client, object *unstructured.Unstructured, patch string) error {
	t.Helper()
	return c.Patch(t.Context(), object.DeepCopy(), mergePatch(patch), client.DryRunAll)
}

func mergePatch(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}

// servedVersions lists the versions at which a kind is served.
func servedVersions(t *testing.T, name string) []string {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := devplanetest.Client(t).Get(t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, version := range crd.Spec.Versions {
		if version.Served {
			served = append(served, version.Name)
		}
	}
	if len(served) < 2 {
		t.Fatalf("%s is served at %v only", name, served)
	}
	return served
}

// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fivespot/fivespot/internal/kinds"
)

// definition is an established CRD of the resource racks.example.com.
func definition(kind, uid string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "racks.example.com", "uid": uid},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names":    map[string]any{"kind": kind, "plural": "racks"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}},
		},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}}
}

// A list in place of a watch that was too long away tells of a CRD that was removed
// and installed again as of one that has changed.
func TestAKindThatTurnedIntoAnotherUnseenIsNotInstalledAnyMore(t *testing.T) {
	t.Parallel()
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{resource: "CustomResourceDefinitionList"}, definition("Rack", "1"))
	watches := make(chan *watch.FakeWatcher, 10)
	client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		watches <- w
		return true, w, nil
	})
	registry, changes := start(t, client)
	rack := schema.GroupKind{Group: "example.com", Kind: "Rack"}
	await(t, changes, func() bool {
		_, state, _ := registry.Lookup(rack)
		return state == kinds.Present && registry.Err() == nil
	})

	if err := client.Tracker().Update(resource, definition("Shelf", "2"), ""); err != nil {
		t.Fatal(err)
	}
	away := <-watches
	away.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
	shelf := schema.GroupKind{Group: "example.com", Kind: "Shelf"}
	await(t, changes, func() bool { _, state, _ := registry.Lookup(shelf); return state == kinds.Present })
	if kind, state, _ := registry.Lookup(rack); state != kinds.NotInstalled {
		t.Errorf("the kind that was there before has state %d, want NotInstalled: %+v", state, kind)
	}
}

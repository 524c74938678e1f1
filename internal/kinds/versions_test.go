// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/kinds"
)

// rack is what a store keeps of an object here: all of it.
type rack struct{ *unstructured.Unstructured }

func (r rack) GetObjectMeta() metav1.Object { return r.Unstructured }

// While a kind cannot be read at the version that is preferred now, groups have the
// members that they had.
func TestGroupsKeepTheirMembersUntilTheNextVersionIsRead(t *testing.T) {
	t.Parallel()
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	v1 := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "racks"}
	kind := schema.GroupKind{Group: "example.com", Kind: "Rack"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{crds: "CustomResourceDefinitionList", v1: "RackList", v1.GroupResource().WithVersion("v2"): "RackList"},
		definition("Rack", "1"),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Rack",
			"metadata": map[string]any{"namespace": "trading", "name": "one", "resourceVersion": "1"},
		}})
	refused := make(chan struct{}, 1)
	client.PrependReactor("list", "racks", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetResource().Version == "v1" {
			return false, nil, nil
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return true, nil, errors.New("no conversion yet")
	})
	registry, changes := start(t, client)
	await(t, changes, func() bool { return registry.Err() == nil })
	store := kinds.NewStore(kinds.StoreOptions[rack]{
		Registry: registry, Client: client, Log: logr.Discard(),
		Reduce: func(object *unstructured.Unstructured) rack { return rack{object} },
		Group:  func(rack) string { return "all" },
	})
	told := startStore(t, store)
	store.Want(kind)
	name := types.NamespacedName{Namespace: "trading", Name: "one"}
	await(t, told, func() bool { return store.Get(kind, name).State == kinds.Present })

	next := definition("Rack", "1")
	next.Object["spec"].(map[string]any)["versions"] = []any{
		map[string]any{"name": "v2", "served": true, "storage": true}, map[string]any{"name": "v1", "served": true},
	}
	if err := client.Tracker().Update(crds, next, ""); err != nil {
		t.Fatal(err)
	}
	select {
	case <-refused:
	case <-devplanetest.Context(t).Done():
		t.Fatal("nobody reads the next version")
	}
	if !store.HasAny(kind, "all") {
		t.Error("the group has nobody")
	}
	if members := store.Members(kind, "all"); !slices.Equal(members, []types.NamespacedName{name}) {
		t.Errorf("the members are %v", members)
	}
	if result := store.Get(kind, name); result.State != kinds.Present || result.Kind.Preferred() != "v2" {
		t.Errorf("the object has state %d, and its kind is preferred at %s", result.State, result.Kind.Preferred())
	}
}

// startStore runs a store and returns a channel with a token when it told of anything.
func startStore(t *testing.T, store *kinds.Store[rack]) <-chan struct{} {
	t.Helper()
	told := make(chan struct{}, 1)
	tell := func() {
		select {
		case told <- struct{}{}:
		default:
		}
	}
	store.Subscribe(func(schema.GroupKind, types.NamespacedName) { tell() }, func(schema.GroupKind) { tell() })
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- store.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return told
}

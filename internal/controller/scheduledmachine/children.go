// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
)

// child is what is kept of a Cluster API object that carries our label.
type child struct {
	metav1.ObjectMeta
	// machine is the state of a Machine; nil for other kinds.
	machine *capi.MachineState
	// problem says why a Machine cannot be read; nil if it can.
	problem error
}

// ownedBy reports whether the object belongs to the owner with this UID.
func (c *child) ownedBy(owner types.UID) bool {
	for _, reference := range c.OwnerReferences {
		if reference.UID == owner {
			return true
		}
	}
	return false
}

// newChildren returns a store of the objects that carry our label, of those
// kinds that a ScheduledMachine has named.
func newChildren(client dynamic.Interface, registry *kinds.Registry, log logr.Logger) *kinds.Store[*child] {
	return kinds.NewStore(kinds.StoreOptions[*child]{
		Registry:      registry,
		Client:        client,
		Select:        func(k kinds.Kind) bool { return k.GroupKind == capi.MachineKind },
		LabelSelector: v1beta1.LabelScheduledMachine,
		Version:       childVersion,
		Reduce:        reduceChild,
		Log:           log,
	})
}

// childVersion picks the version to read a kind at.
func childVersion(kind kinds.Kind) string {
	if kind.GroupKind == capi.MachineKind || kind.GroupKind == capi.ClusterKind {
		if version, ok := capi.MachineVersion(kind.Served); ok {
			return version
		}
	}
	return kind.Preferred()
}

func reduceChild(object *unstructured.Unstructured) *child {
	kept := &child{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		ResourceVersion: object.GetResourceVersion(), DeletionTimestamp: object.GetDeletionTimestamp(),
		OwnerReferences: object.GetOwnerReferences(),
	}}
	if object.GroupVersionKind().GroupKind() == capi.MachineKind {
		kept.machine, kept.problem = capi.ReadMachine(object)
	}
	return kept
}

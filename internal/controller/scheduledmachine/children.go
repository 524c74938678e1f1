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

// child is what is kept of a Cluster API object.
type child struct {
	metav1.ObjectMeta
	// machine is the state of a Machine; nil for other kinds.
	machine *capi.MachineState
	// controlPlaneOf is the name of the cluster whose control plane a Machine belongs
	// to; empty if to none.
	controlPlaneOf string
	// specHash is the hash of the embedded spec that it was made from; empty if it does not say.
	specHash string
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

// newChildren returns a store of the Machines, and of the objects of those kinds
// that a ScheduledMachine has named. All of them, not only those with our label:
// an object is ours by its owner, and one that lost its label must not be taken
// for one that is gone.
func newChildren(client dynamic.Interface, registry *kinds.Registry, log logr.Logger) *kinds.Store[*child] {
	return kinds.NewStore(kinds.StoreOptions[*child]{
		Registry: registry,
		Client:   client,
		Select:   func(k kinds.Kind) bool { return k.GroupKind == capi.MachineKind },
		Version:  childVersion,
		Reduce:   reduceChild,
		Group:    groupOf,
		Log:      log,
	})
}

// groupOf names the group of a Machine that somebody asks for.
func groupOf(c *child) string {
	switch {
	case c.machine != nil && c.machine.Held:
		return heldGroup
	case c.controlPlaneOf != "" && c.DeletionTimestamp.IsZero():
		return controlPlaneGroup(c.Namespace, c.controlPlaneOf)
	}
	return ""
}

// heldGroup is the group of the Machines that Cluster API holds for us.
const heldGroup = "held"

// controlPlaneGroup is the group of those Machines of a cluster's control plane
// that stay.
func controlPlaneGroup(namespace, cluster string) string { return namespace + "/" + cluster }

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
		OwnerReferences: object.GetOwnerReferences(), CreationTimestamp: object.GetCreationTimestamp(),
	}, specHash: object.GetAnnotations()[v1beta1.AnnotationSpecHash]}
	if object.GroupVersionKind().GroupKind() == capi.MachineKind {
		kept.machine, kept.problem = capi.ReadMachine(object)
		kept.controlPlaneOf = capi.ControlPlaneMachineOf(object)
	}
	return kept
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"fmt"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
)

// clusterPart is what is kept of a Cluster or of its control plane object.
type clusterPart struct {
	metav1.ObjectMeta
	// controlPlane and controlPlaneName are what a Cluster refers to; empty if nothing.
	controlPlane     schema.GroupKind
	controlPlaneName string
	// version is a control plane's Kubernetes version; empty if it tells none.
	version string
}

// newClusters returns a store of the Clusters and, once asked for, of the
// control planes that they refer to.
func newClusters(client dynamic.Interface, registry *kinds.Registry, log logr.Logger) *kinds.Store[*clusterPart] {
	return kinds.NewStore(kinds.StoreOptions[*clusterPart]{
		Registry: registry,
		Client:   client,
		Select:   func(k kinds.Kind) bool { return k.GroupKind == capi.ClusterKind },
		Version:  childVersion,
		Reduce:   reduceClusterPart,
		Same: func(before, after *clusterPart) bool {
			return before.controlPlane == after.controlPlane && before.controlPlaneName == after.controlPlaneName &&
				before.version == after.version && before.UID == after.UID &&
				before.DeletionTimestamp.IsZero() == after.DeletionTimestamp.IsZero()
		},
		Log: log,
	})
}

func reduceClusterPart(object *unstructured.Unstructured) *clusterPart {
	kept := &clusterPart{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		ResourceVersion: object.GetResourceVersion(), DeletionTimestamp: object.GetDeletionTimestamp(),
	}}
	if object.GroupVersionKind().GroupKind() == capi.ClusterKind {
		kept.controlPlane, kept.controlPlaneName = capi.ControlPlaneOf(object)
	} else {
		kept.version = capi.ControlPlaneVersion(object)
	}
	return kept
}

// observeCluster returns the Kubernetes version that the machine's node is to
// have, "" if nobody tells, and what about the cluster keeps a machine from
// being made.
func (r *Reconciler) observeCluster(sm *v1beta1.ScheduledMachine) (version string, problems field.ErrorList, err error) {
	path := field.NewPath("spec", "clusterName")
	name := sm.Spec.ClusterName
	cluster := r.clusters.Get(capi.ClusterKind, types.NamespacedName{Namespace: sm.Namespace, Name: name})
	switch cluster.State {
	case kinds.Loading:
		return "", nil, &loadingError{capi.ClusterKind}
	case kinds.NotInstalled:
		return "", field.ErrorList{field.Invalid(path, name,
			"Cluster API is not installed: there is no CRD for Cluster in group "+capi.ClusterKind.Group)}, nil
	case kinds.Unreadable:
		return "", field.ErrorList{field.InternalError(path, fmt.Errorf("listing Clusters: %w", cluster.Err))}, nil
	case kinds.Absent:
		return "", field.ErrorList{field.Invalid(path, name, "there is no Cluster of this name in namespace "+sm.Namespace)}, nil
	case kinds.Present:
	}
	if !cluster.Object.DeletionTimestamp.IsZero() {
		return "", field.ErrorList{field.Invalid(path, name, "the Cluster is being deleted")}, nil
	}
	if sm.Spec.Version != "" {
		return sm.Spec.Version, nil, nil
	}
	return r.observeControlPlane(sm, cluster.Object)
}

func (r *Reconciler) observeControlPlane(sm *v1beta1.ScheduledMachine, cluster *clusterPart) (version string, problems field.ErrorList, err error) {
	kind, name := cluster.controlPlane, cluster.controlPlaneName
	if kind.Group != capi.ControlPlaneGroup {
		return "", nil, nil // there is none, or of a group that tells by no contract
	}
	path := field.NewPath("spec", "version")
	r.clusters.Want(kind)
	controlPlane := r.clusters.Get(kind, types.NamespacedName{Namespace: sm.Namespace, Name: name})
	switch controlPlane.State {
	case kinds.Loading:
		return "", nil, &loadingError{kind}
	case kinds.Unreadable:
		return "", field.ErrorList{field.InternalError(path,
			fmt.Errorf("not set, and the version of the cluster's control plane cannot be read: %w", controlPlane.Err))}, nil
	case kinds.NotInstalled, kinds.Absent:
		return "", field.ErrorList{field.Required(path,
			fmt.Sprintf("the cluster's control plane %s %s, whose version would be taken, does not exist", kind.Kind, name))}, nil
	case kinds.Present:
	}
	return controlPlane.Object.version, nil, nil
}

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
	// connection says why Cluster API cannot reach a workload cluster; empty if it can.
	connection string
	// version is a control plane's Kubernetes version; empty if it tells none.
	version string
	// external is true for a control plane that no Machines stand behind.
	external bool
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
				before.version == after.version && before.external == after.external &&
				before.connection == after.connection && before.UID == after.UID &&
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
		kept.connection = capi.ConnectionProblem(object)
	} else {
		kept.version, kept.external = capi.ControlPlaneVersion(object), capi.ExternallyManaged(object)
	}
	return kept
}

// observeCluster notes what the machine's cluster has to say: the Kubernetes
// version for the node, whether Cluster API would drain it, whether it reaches
// the workload cluster, and what keeps a machine from being made.
func (r *Reconciler) observeCluster(sm *v1beta1.ScheduledMachine, seen *observation) error {
	path := field.NewPath("spec", "clusterName")
	name := sm.Spec.ClusterName
	problem := func(err *field.Error) { seen.problems = append(seen.problems, err) }
	seen.controlled = true // as long as nobody says otherwise: a Secret that is missing then means no other cluster
	cluster := r.clusters.Get(capi.ClusterKind, types.NamespacedName{Namespace: sm.Namespace, Name: name})
	switch cluster.State {
	case kinds.Loading:
		return &loadingError{capi.ClusterKind}
	case kinds.NotInstalled:
		problem(field.Invalid(path, name, "Cluster API is not installed: there is no CRD for Cluster in group "+capi.ClusterKind.Group))
	case kinds.Unreadable:
		problem(field.InternalError(path, fmt.Errorf("listing Clusters: %w", cluster.Err)))
	case kinds.Absent:
		seen.drainer = drainerNobody
		problem(field.Invalid(path, name, "there is no Cluster of this name in namespace "+sm.Namespace))
	case kinds.Present:
		seen.connection = cluster.Object.connection
		seen.controlled = cluster.Object.controlPlaneName != ""
		if !cluster.Object.DeletionTimestamp.IsZero() {
			seen.drainer = drainerNobody
			problem(field.Invalid(path, name, "the Cluster is being deleted"))
			return nil
		}
		return r.observeControlPlane(sm, cluster.Object, seen)
	}
	return nil
}

func (r *Reconciler) observeControlPlane(sm *v1beta1.ScheduledMachine, cluster *clusterPart, seen *observation) error {
	seen.kubernetes = sm.Spec.Version
	kind, name := cluster.controlPlane, cluster.controlPlaneName
	if kind.Group != capi.ControlPlaneGroup { // there is none, or of a group that tells by no contract
		seen.drainer = r.drainerOf(sm, name != "")
		return nil
	}
	r.clusters.Want(kind)
	controlPlane := r.clusters.Get(kind, types.NamespacedName{Namespace: sm.Namespace, Name: name})
	path := field.NewPath("spec", "version")
	switch controlPlane.State {
	case kinds.Loading:
		return &loadingError{kind}
	case kinds.Unreadable:
		if sm.Spec.Version == "" {
			seen.problems = append(seen.problems, field.InternalError(path,
				fmt.Errorf("not set, and the version of the cluster's control plane cannot be read: %w", controlPlane.Err)))
		}
	case kinds.NotInstalled, kinds.Absent:
		seen.drainer = r.drainerOf(sm, false)
		if sm.Spec.Version == "" {
			seen.problems = append(seen.problems, field.Required(path,
				fmt.Sprintf("the cluster's control plane %s %s, whose version would be taken, does not exist", kind.Kind, name)))
		}
	case kinds.Present:
		seen.drainer = r.drainerOf(sm, controlPlane.Object.external)
		if !controlPlane.Object.DeletionTimestamp.IsZero() {
			seen.drainer = drainerNobody
		}
		if sm.Spec.Version == "" {
			seen.kubernetes = controlPlane.Object.version
		}
	}
	return nil
}

// drainerOf returns who drains the machine's node. Where no Machine that stays is
// of the cluster's control plane, nor the control plane run by somebody else,
// Cluster API takes the machine for one whose whole cluster goes.
func (r *Reconciler) drainerOf(sm *v1beta1.ScheduledMachine, controlPlaneElsewhere bool) drainer {
	if controlPlaneElsewhere || r.children.HasAny(capi.MachineKind, controlPlaneGroup(sm.Namespace, sm.Spec.ClusterName)) {
		return drainerClusterAPI
	}
	return drainerUs
}

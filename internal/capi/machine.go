// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// MachineState is what the controller needs to know of a Machine, whatever its
// API version.
type MachineState struct {
	// UID of the Machine.
	UID types.UID
	// Owner is the UID of the object that controls the Machine; empty if none does.
	Owner types.UID
	// Version is the version of the Machine API that this was read at.
	Version string
	// Phase is Cluster API's own phase.
	Phase string
	// BootstrapDataCreated is true once the bootstrap provider is done.
	BootstrapDataCreated bool
	// InfrastructureProvisioned is true once the infrastructure provider is done.
	InfrastructureProvisioned bool
	// NodeName and NodeUID name the Node; empty until it has joined. Only
	// v1beta1 tells the UID.
	NodeName string
	NodeUID  types.UID
	// NodeReady is true while the Node is ready, as Cluster API sees it.
	NodeReady bool
	// ProviderID is the infrastructure provider's name for the machine.
	ProviderID string
	// Failure is Cluster API's message about a failure that it will not retry; empty if none.
	Failure string
	// DeletedAt is when the deletion was asked for; zero if it was not.
	DeletedAt time.Time
	// Deleting is Cluster API's reason and message about the deletion's progress.
	DeletingReason, DeletingMessage string
	// SkipsDrain is true when Cluster API was told to wait for neither the
	// node's pods nor its volumes.
	SkipsDrain bool
}

// Running reports whether the machine runs and its node is ready.
func (m *MachineState) Running() bool {
	return m.DeletedAt.IsZero() && m.Phase == string(clusterv1.MachinePhaseRunning) && m.NodeReady
}

// ReadMachine reads a Machine at either version of its API.
func ReadMachine(object *unstructured.Unstructured) (*MachineState, error) {
	state := &MachineState{
		UID:     object.GetUID(),
		Version: object.GroupVersionKind().Version,
		SkipsDrain: hasAnnotation(object, clusterv1.ExcludeNodeDrainingAnnotation) &&
			hasAnnotation(object, clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation),
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		state.Owner = owner.UID
	}
	if deleted := object.GetDeletionTimestamp(); deleted != nil {
		state.DeletedAt = deleted.Time
	}
	switch state.Version {
	case VersionV1Beta2:
		return state, readV1Beta2(object, state)
	case VersionV1Beta1:
		return state, readV1Beta1(object, state)
	}
	return nil, fmt.Errorf("Machine API version %q is not known", state.Version)
}

// SkipDrainAnnotations tell Cluster API to wait for neither a node's pods nor its volumes.
func SkipDrainAnnotations() map[string]string {
	return map[string]string{
		clusterv1.ExcludeNodeDrainingAnnotation:            "true",
		clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation: "true",
	}
}

func hasAnnotation(object metav1.Object, key string) bool {
	_, ok := object.GetAnnotations()[key]
	return ok
}

func fromUnstructured(object *unstructured.Unstructured, into runtime.Object) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("reading Machine %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

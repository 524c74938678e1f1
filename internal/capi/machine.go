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

	"github.com/fivespot/fivespot/api/v1beta1"
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
	// NotReady is Cluster API's message about why the Machine is not ready; empty if it gives none.
	NotReady string
	// DrainTimeout bounds the drain of the node; nil if the Machine has no such
	// field set. Zero sets no bound.
	DrainTimeout *time.Duration
	// DrainStartedAt is when Cluster API began to drain the node; zero if it has not.
	DrainStartedAt time.Time
	// DeletedAt is when the deletion was asked for; zero if it was not.
	DeletedAt time.Time
	// Deleting is Cluster API's reason and message about the deletion's progress.
	DeletingReason, DeletingMessage string
	// Held is true when Cluster API waits for us before it takes the infrastructure
	// of the Machine, once deleted, away; see HoldPatch.
	Held bool
	// SkipsDrain is true when Cluster API was told to wait for neither the
	// node's pods nor its volumes.
	SkipsDrain bool
}

// DrainDeadline returns when the Machine's drain timeout ends the drain that Cluster
// API has begun; zero if it has begun none, or without a bound.
func (m *MachineState) DrainDeadline() time.Time {
	if m.DrainTimeout == nil || *m.DrainTimeout <= 0 || m.DrainStartedAt.IsZero() {
		return time.Time{}
	}
	return m.DrainStartedAt.Add(*m.DrainTimeout)
}

// DrainTimedOut reports whether Cluster API has stopped draining the node because
// the Machine's drain timeout was over.
func (m *MachineState) DrainTimedOut(now time.Time) bool {
	deadline := m.DrainDeadline()
	return !deadline.IsZero() && !now.Before(deadline) && m.DeletingReason != clusterv1.MachineDeletingDrainingNodeReason
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
		Held:    hasAnnotation(object, HoldAnnotation),
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

// nodeDeletionTimeout bounds how long Cluster API tries to delete the Node of a
// machine that is gone: its own default, which a Machine has only where Cluster
// API's webhooks set it. Without it a workload cluster that cannot be reached
// keeps the Machine for good.
const nodeDeletionTimeout = 10 * time.Second

// DrainTimeoutPatch returns the merge patch that gives a Machine, at a version
// of its API, another drain timeout.
func DrainTimeoutPatch(version string, drain time.Duration) map[string]any {
	if version == VersionV1Beta1 {
		return map[string]any{"spec": map[string]any{"nodeDrainTimeout": drain.String()}}
	}
	return map[string]any{"spec": map[string]any{"deletion": map[string]any{
		"nodeDrainTimeoutSeconds": int32(drain / time.Second),
	}}}
}

// HoldAnnotation is our hook of Cluster API's: while a Machine has it, Cluster
// API does not take its infrastructure away, whoever deleted it. Cluster API's own
// drain, where there is one, comes before that.
// https://cluster-api.sigs.k8s.io/reference/api/labels-and-annotations
const HoldAnnotation = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/5spot-drain"

// HoldPatch returns the merge patch that has Cluster API wait for us when the
// Machine is deleted.
func HoldPatch() map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{HoldAnnotation: v1beta1.FieldManager}}}
}

// LetGoPatch returns the merge patch after which Cluster API no longer waits for us.
// It holds for a Machine of that resource version alone.
func LetGoPatch(resourceVersion string) map[string]any {
	return map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{HoldAnnotation: nil}, "resourceVersion": resourceVersion,
	}}
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

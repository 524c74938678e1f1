// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
)

func machineV1Beta1(sm *v1beta1.ScheduledMachine, metadata metav1.ObjectMeta, drain time.Duration, kubernetes string) *clusterv1beta1.Machine {
	var version *string
	if kubernetes != "" {
		version = &kubernetes
	}
	bootstrap := objectReference(&sm.Spec.BootstrapSpec, sm)
	return &clusterv1beta1.Machine{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: MachineKind.Kind},
		ObjectMeta: metadata,
		Spec: clusterv1beta1.MachineSpec{
			ClusterName:       sm.Spec.ClusterName,
			Version:           version,
			Bootstrap:         clusterv1beta1.Bootstrap{ConfigRef: &bootstrap},
			InfrastructureRef: objectReference(&sm.Spec.InfrastructureSpec, sm),
			NodeDrainTimeout:  &metav1.Duration{Duration: drain},

			NodeDeletionTimeout: &metav1.Duration{Duration: nodeDeletionTimeout},
		},
	}
}

func objectReference(object *v1beta1.EmbeddedObject, sm *v1beta1.ScheduledMachine) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: object.APIVersion, Kind: object.Kind, Namespace: sm.Namespace, Name: sm.Name,
	}
}

func readV1Beta1(object *unstructured.Unstructured, state *MachineState) error {
	var machine clusterv1beta1.Machine
	if err := fromUnstructured(object, &machine); err != nil {
		return err
	}
	status := &machine.Status
	state.Phase = status.Phase
	state.BootstrapDataCreated = status.BootstrapReady
	state.InfrastructureProvisioned = status.InfrastructureReady
	if node := status.NodeRef; node != nil {
		state.NodeName, state.NodeUID = node.Name, node.UID
	}
	state.ProviderID = ptr.Deref(machine.Spec.ProviderID, "")
	state.Failure = failure(status.FailureReason, status.FailureMessage)
	state.NodeReady = nodeReadyV1Beta1(status)
	if drain := machine.Spec.NodeDrainTimeout; drain != nil {
		state.DrainTimeout = &drain.Duration
	}
	if deletion := status.Deletion; deletion != nil && deletion.NodeDrainStartTime != nil {
		state.DrainStartedAt = deletion.NodeDrainStartTime.Time
	}
	state.NotReady = notReadyV1Beta1(status)
	if status.V1Beta2 != nil {
		state.DeletingReason, state.DeletingMessage = progress(status.V1Beta2.Conditions)
	}
	if state.DeletingReason == "" && !state.DeletedAt.IsZero() {
		state.DeletingReason, state.DeletingMessage = progressV1Beta1(status)
	}
	return nil
}

// progressV1Beta1 makes the newer reason and message of a deletion's progress from
// the old conditions: before 1.9 Cluster API has no others, and names no pods.
func progressV1Beta1(status *clusterv1beta1.MachineStatus) (reason, message string) {
	for _, step := range []struct { // in the order in which they come
		condition     clusterv1beta1.ConditionType
		reason, waits string
	}{
		{clusterv1beta1.PreDrainDeleteHookSucceededCondition, clusterv1.MachineDeletingWaitingForPreDrainHookReason, "a pre-drain hook"},
		{clusterv1beta1.DrainingSucceededCondition, clusterv1.MachineDeletingDrainingNodeReason, "the node to be drained"},
		{clusterv1beta1.VolumeDetachSucceededCondition, clusterv1.MachineDeletingWaitingForVolumeDetachReason, "the node's volumes to be detached"},
		{clusterv1beta1.PreTerminateDeleteHookSucceededCondition, clusterv1.MachineDeletingWaitingForPreTerminateHookReason, "a pre-terminate hook"},
	} {
		for _, condition := range status.Conditions {
			if condition.Type == step.condition && condition.Status == corev1.ConditionFalse {
				return step.reason, cmp.Or(condition.Message, step.waits)
			}
		}
	}
	return "", ""
}

// notReadyV1Beta1 prefers the newer Ready condition for the same reason.
func notReadyV1Beta1(status *clusterv1beta1.MachineStatus) string {
	if status.V1Beta2 != nil {
		if message := notReady(status.V1Beta2.Conditions); message != "" {
			return message
		}
	}
	for _, condition := range status.Conditions {
		if condition.Type == clusterv1beta1.ReadyCondition && condition.Status != corev1.ConditionTrue {
			return condition.Message
		}
	}
	return ""
}

// nodeReadyV1Beta1 prefers the condition NodeReady, which Cluster API reports
// beside its old conditions since 1.9; before that there is only NodeHealthy.
func nodeReadyV1Beta1(status *clusterv1beta1.MachineStatus) bool {
	if status.V1Beta2 != nil {
		ready := meta.FindStatusCondition(status.V1Beta2.Conditions, "NodeReady")
		if ready != nil {
			return ready.Status == metav1.ConditionTrue
		}
	}
	for _, condition := range status.Conditions {
		if condition.Type == clusterv1beta1.MachineNodeHealthyCondition {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

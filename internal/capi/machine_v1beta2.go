// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
)

func machineV1Beta2(sm *v1beta1.ScheduledMachine, metadata metav1.ObjectMeta, drain time.Duration, kubernetes string) *clusterv1.Machine {
	return &clusterv1.Machine{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: MachineKind.Kind},
		ObjectMeta: metadata,
		Spec: clusterv1.MachineSpec{
			ClusterName:       sm.Spec.ClusterName,
			Version:           kubernetes,
			Bootstrap:         clusterv1.Bootstrap{ConfigRef: contractReference(&sm.Spec.BootstrapSpec, sm.Name)},
			InfrastructureRef: contractReference(&sm.Spec.InfrastructureSpec, sm.Name),
			Deletion: clusterv1.MachineDeletionSpec{
				NodeDrainTimeoutSeconds:    new(int32(drain / time.Second)),
				NodeDeletionTimeoutSeconds: new(int32(nodeDeletionTimeout / time.Second)),
			},
		},
	}
}

func contractReference(object *v1beta1.EmbeddedObject, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{
		APIGroup: schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).Group,
		Kind:     object.Kind,
		Name:     name,
	}
}

func readV1Beta2(object *unstructured.Unstructured, state *MachineState) error {
	var machine clusterv1.Machine
	if err := fromUnstructured(object, &machine); err != nil {
		return err
	}
	status := &machine.Status
	state.Phase = status.Phase
	state.BootstrapDataCreated = ptr.Deref(status.Initialization.BootstrapDataSecretCreated, false)
	state.InfrastructureProvisioned = ptr.Deref(status.Initialization.InfrastructureProvisioned, false)
	state.NodeName = status.NodeRef.Name
	state.NodeReady = meta.IsStatusConditionTrue(status.Conditions, clusterv1.MachineNodeReadyCondition)
	state.ProviderID = machine.Spec.ProviderID
	if seconds := machine.Spec.Deletion.NodeDrainTimeoutSeconds; seconds != nil {
		state.DrainTimeout = new(time.Duration(*seconds) * time.Second)
	}
	if deletion := status.Deletion; deletion != nil {
		state.DrainStartedAt = deletion.NodeDrainStartTime.Time
	}
	state.NotReady = notReady(status.Conditions)
	if status.Deprecated != nil && status.Deprecated.V1Beta1 != nil {
		state.Failure = failure(status.Deprecated.V1Beta1.FailureReason, status.Deprecated.V1Beta1.FailureMessage)
	}
	state.DeletingReason, state.DeletingMessage = progress(status.Conditions)
	return nil
}

// progress returns what the Deleting condition says while it is True.
func progress(conditions []metav1.Condition) (reason, message string) {
	deleting := meta.FindStatusCondition(conditions, clusterv1.MachineDeletingCondition)
	if deleting == nil || deleting.Status != metav1.ConditionTrue {
		return "", ""
	}
	return deleting.Reason, deleting.Message
}

// notReady returns what the Ready condition says while it is not True.
func notReady(conditions []metav1.Condition) string {
	ready := meta.FindStatusCondition(conditions, clusterv1.MachineReadyCondition)
	if ready == nil || ready.Status == metav1.ConditionTrue {
		return ""
	}
	return ready.Message
}

// failure joins Cluster API's failure reason and message.
func failure[Reason ~string](reason *Reason, message *string) string {
	switch {
	case reason == nil && message == nil:
		return ""
	case message == nil:
		return string(*reason)
	case reason == nil:
		return *message
	}
	return string(*reason) + ": " + *message
}

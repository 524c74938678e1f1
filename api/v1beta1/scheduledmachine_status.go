// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScheduledMachineStatus is what the controller last saw and decided.
type ScheduledMachineStatus struct {
	// phase sums the status up for display. Nothing decides by it.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// message says in words why the machine is in its phase.
	// +optional
	Message string `json:"message,omitempty"`

	// lastScheduledTime is when the machine was last brought up.
	// +optional
	LastScheduledTime *metav1.Time `json:"lastScheduledTime,omitempty"`

	// machineRef names the Cluster API Machine, while there is one.
	// +optional
	MachineRef *ObjectReference `json:"machineRef,omitempty"`

	// bootstrapRef names the bootstrap object, while there is one.
	// +optional
	BootstrapRef *ObjectReference `json:"bootstrapRef,omitempty"`

	// infrastructureRef names the infrastructure object, while there is one.
	// +optional
	InfrastructureRef *ObjectReference `json:"infrastructureRef,omitempty"`

	// nodeRef names the machine's Node in the workload cluster, once it has joined.
	// +optional
	NodeRef *NodeReference `json:"nodeRef,omitempty"`

	// machineReadyTime is when the present Machine was first seen to run with a ready node.
	// +optional
	MachineReadyTime *metav1.Time `json:"machineReadyTime,omitempty"`

	// drainStartTime is when 5-Spot itself began to drain the machine's node, where
	// Cluster API would not: the cluster has no control plane that Cluster API knows.
	// +optional
	DrainStartTime *metav1.Time `json:"drainStartTime,omitempty"`

	// drainDeadline is when the drain of the machine's node, Cluster API's or 5-Spot's
	// own, is cut short; absent while none is under way.
	// +optional
	DrainDeadline *metav1.Time `json:"drainDeadline,omitempty"`

	// machineFailures counts Machines that failed one after the other; absent when
	// the last one did well.
	// +optional
	MachineFailures *MachineFailures `json:"machineFailures,omitempty"`

	// providerID is the infrastructure provider's name for the machine.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// conditions are the details, each with its own reason.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status reflects.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// inSchedule is the verdict that the controller goes by: the last one that
	// the schedule gave, false if it never gave one.
	// +optional
	// +kubebuilder:default=false
	InSchedule bool `json:"inSchedule"`

	// ready is true while the machine runs and its node is ready.
	// +optional
	// +kubebuilder:default=false
	Ready bool `json:"ready"`

	// nextActivation is when the schedule expects to become active, if it says so. One
	// that has not come a minute later is no longer shown.
	// +optional
	NextActivation *metav1.Time `json:"nextActivation,omitempty"`

	// nextCleanup is when the schedule expects to become inactive, if it says so. One
	// that has not come a minute later is no longer shown.
	// +optional
	NextCleanup *metav1.Time `json:"nextCleanup,omitempty"`

	// appliedNodeTaints are the taints on the node that this object owns.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=100
	AppliedNodeTaints []NodeTaint `json:"appliedNodeTaints,omitempty"`

	// spotSchedule is what was last read from the schedule object.
	// +optional
	SpotSchedule *SpotScheduleStatus `json:"spotSchedule,omitempty"`

	// following is how the machine follows the schedule over time, where
	// spec.minimumStateDuration, spec.activationLead or quick changes of the
	// schedule make that more than its last verdict.
	// +optional
	Following *FollowingStatus `json:"following,omitempty"`
}

// SpotScheduleStatus is what was last read from the schedule object. Its active
// field outlives any reading that fails, and any restart: it is the verdict
// that is held.
type SpotScheduleStatus struct {
	// resolved says whether the schedule could be read the last time it was looked at.
	// +required
	Resolved bool `json:"resolved"`

	// active is the last verdict that the schedule gave; absent if it never gave one.
	// +optional
	Active *bool `json:"active,omitempty"`

	// reason says why the schedule is resolved or not.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message says in words why the schedule is resolved or not.
	// +optional
	Message string `json:"message,omitempty"`

	// providerGeneration is the generation of the schedule object that its
	// status reflects, if it says so.
	// +optional
	ProviderGeneration *int64 `json:"providerGeneration,omitempty"`

	// stale is true when the schedule object was edited and its status does not
	// reflect the edit yet. It does not change the verdict.
	// +optional
	Stale bool `json:"stale,omitempty"`

	// lastTransitionTime is when active last changed.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// FollowingStatus is how the machine follows its schedule over time.
type FollowingStatus struct {
	// recentTransitions are the changes of active before the last one that are
	// recent enough to tell whether the schedule flaps, the oldest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	RecentTransitions []metav1.Time `json:"recentTransitions,omitempty"`

	// followed is the verdict that the machine follows. It is given where
	// spec.minimumStateDuration or spec.activationLead can make it differ from active.
	// +optional
	Followed *bool `json:"followed,omitempty"`

	// followedSince is when followed last changed.
	// +optional
	FollowedSince *metav1.Time `json:"followedSince,omitempty"`

	// ahead is true while spec.activationLead wants the machine up ahead of the
	// schedule's next opening.
	// +optional
	Ahead bool `json:"ahead,omitempty"`
}

// MachineFailures counts Machines of a ScheduledMachine that failed one after the other.
type MachineFailures struct {
	// count of the Machines that failed.
	// +required
	Count int32 `json:"count"`

	// machineUID is the UID of the Machine that failed; absent once it is up after all.
	// +optional
	MachineUID types.UID `json:"machineUID,omitempty"`

	// message says what was wrong with it.
	// +optional
	Message string `json:"message,omitempty"`

	// replaceTime is when that Machine is replaced.
	// +required
	ReplaceTime metav1.Time `json:"replaceTime"`
}

// ObjectReference names an object in the management cluster.
type ObjectReference struct {
	// +required
	APIVersion string `json:"apiVersion"`
	// +required
	Kind string `json:"kind"`
	// +required
	Name string `json:"name"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// NodeReference names a Node in the workload cluster.
type NodeReference struct {
	// +required
	APIVersion string `json:"apiVersion"`
	// +required
	Kind string `json:"kind"`
	// +required
	Name string `json:"name"`
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// Phase sums up where a ScheduledMachine is.
type Phase string

const (
	// PhasePending: the machine is wanted and not running yet.
	PhasePending Phase = "Pending"
	// PhaseActive: the machine runs and its node is ready.
	PhaseActive Phase = "Active"
	// PhaseShuttingDown: the machine is not wanted and not gone yet, or an
	// earlier one has to go before a new one can come.
	PhaseShuttingDown Phase = "ShuttingDown"
	// PhaseInactive: the schedule is inactive and there is no machine.
	PhaseInactive Phase = "Inactive"
	// PhaseDisabled: enabled is false and there is no machine.
	PhaseDisabled Phase = "Disabled"
	// PhaseTerminated: the kill switch is on and there is no machine.
	PhaseTerminated Phase = "Terminated"
	// PhaseError: the machine cannot be made or has failed; the Ready condition says why.
	PhaseError Phase = "Error"
)

// Phases lists every phase, in the order of a machine's life.
var Phases = []Phase{
	PhasePending, PhaseActive, PhaseShuttingDown, PhaseInactive, PhaseDisabled, PhaseTerminated, PhaseError,
}

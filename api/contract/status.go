// SPDX-License-Identifier: Apache-2.0

package contract

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Group is the API group of every schedule kind.
const Group = "spotschedules.5spot.finos.org"

// ConditionReady is the type of the only condition that a reader looks at.
const ConditionReady = "Ready"

// Status is the status block of a schedule kind. A provider in Go embeds it, or
// uses it as the whole status; further fields of a kind's own are ignored by
// readers.
//
// +kubebuilder:object:generate=true
type Status struct {
	// active is the verdict: true wants the machine up, false wants it down.
	// Absent until the provider has looked at the object.
	// +optional
	Active *bool `json:"active,omitempty"`

	// observedGeneration is the generation of the spec that this status reflects.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastTransitionTime is when active last changed.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`

	// nextTransitionTime is when active is expected to change next; absent when unknown.
	// +optional
	NextTransitionTime *metav1.Time `json:"nextTransitionTime,omitempty"`

	// conditions of the schedule. While Ready is present and not True, readers
	// hold the last verdict they saw and ignore active.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

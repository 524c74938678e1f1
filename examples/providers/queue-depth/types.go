// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/contract"
)

var kind = schema.GroupVersionKind{Group: contract.Group, Version: "v1alpha1", Kind: "QueueDepthSchedule"}

// QueueDepthSchedule is active while jobs wait in a queue.
//
// +kubebuilder:resource:path=queuedepthschedules,singular=queuedepthschedule,shortName=qds,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Active",type=boolean,JSONPath=`.status.active`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.lastTransitionTime`
type QueueDepthSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec QueueDepthScheduleSpec `json:"spec"`
	// +optional
	Status contract.Status `json:"status,omitempty"`
}

// QueueDepthScheduleSpec says where the depth is found and what follows from it.
//
// +kubebuilder:validation:XValidation:rule="self.stopAt < self.startAt",message="stopAt must be less than startAt"
type QueueDepthScheduleSpec struct {
	// url is asked by GET, and answers 200 with JSON: the management API of the
	// queue, for example. Credentials do not belong into it: see authorizationKey.
	// +required
	// +kubebuilder:validation:Pattern=`^https?://[^/?#@]+([/?][^#]*)?$`
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url"`

	// pointer leads to the depth within the answer (RFC 6901), as in /messages: to a
	// number, or to a list whose length is the depth. Empty: the answer as a whole.
	// +optional
	// +kubebuilder:validation:Pattern=`^(/.*)?$`
	// +kubebuilder:validation:MaxLength=1024
	Pointer string `json:"pointer,omitempty"`

	// startAt is the depth from which the schedule is active.
	// +required
	// +kubebuilder:validation:Minimum=1
	StartAt int32 `json:"startAt"`

	// stopAt is the depth down to which an active schedule stays active; at it, and
	// below, it is not. Between the two it stays as it was, so that it does not flap.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	StopAt int32 `json:"stopAt"`

	// interval is the pause between two times of asking.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="interval must be at least 1s"
	Interval metav1.Duration `json:"interval,omitempty"`

	// timeout is how long to wait for an answer.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="timeout must be more than 0s"
	Timeout metav1.Duration `json:"timeout,omitempty"`

	// maxAge is how old the last answer may be and still decide, while the queue
	// gives none. After that the schedule is not ready, and machines stay as they are.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="maxAge must not be negative"
	MaxAge metav1.Duration `json:"maxAge,omitempty"`

	// authorizationKey names the entry of the Secret queue-depth-credentials, in the
	// namespace of the schedule, that is sent as the header Authorization. Empty:
	// no such header.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AuthorizationKey string `json:"authorizationKey,omitempty"`
}

// ScheduleStatus returns the part of the status that 5-Spot reads.
func (s *QueueDepthSchedule) ScheduleStatus() *contract.Status { return &s.Status }

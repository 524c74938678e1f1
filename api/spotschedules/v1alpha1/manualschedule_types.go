// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/contract"
)

// ManualSchedule is a toggle: active while spec.enabled is true.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=manualschedules,singular=manualschedule,shortName=ms,scope=Namespaced
// +kubebuilder:printcolumn:name="Active",type=boolean,JSONPath=`.status.active`
type ManualSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec ManualScheduleSpec `json:"spec"`
	// +optional
	Status contract.Status `json:"status,omitempty"`
}

// ManualScheduleSpec is the position of the toggle.
type ManualScheduleSpec struct {
	// enabled set to true makes the schedule active.
	// +required
	Enabled bool `json:"enabled"`

	// until is the instant (RFC 3339) from which the toggle reads as its
	// opposite. Absent: the toggle stays where it is.
	// ---
	// The format date-time alone lets texts through that no Go client can decode,
	// one of which would stop a provider from reading any object of the kind.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
	Until *metav1.Time `json:"until,omitempty"`

	// reason says why the toggle is where it is; shown in the Ready condition.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// ManualScheduleList is a list of ManualSchedule objects.
//
// +kubebuilder:object:root=true
type ManualScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ManualSchedule `json:"items"`
}

// ScheduleStatus returns the status block of the contract.
func (s *ManualSchedule) ScheduleStatus() *contract.Status { return &s.Status }

// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/contract"
)

// TimeBasedSpotSchedule is active at certain times of the week, of certain
// dates, or between certain instants.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=timebasedspotschedules,singular=timebasedspotschedule,shortName=tbss,scope=Namespaced
// +kubebuilder:printcolumn:name="Active",type=boolean,JSONPath=`.status.active`
// +kubebuilder:printcolumn:name="Enabled",type=boolean,JSONPath=`.spec.enabled`
// +kubebuilder:printcolumn:name="Timezone",type=string,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="NextTransition",type=string,JSONPath=`.status.nextTransitionTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TimeBasedSpotSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec TimeBasedSpotScheduleSpec `json:"spec"`
	// +optional
	Status contract.Status `json:"status,omitempty"`
}

// TimeBasedSpotScheduleSpec says when the schedule is active: whenever
// daysOfWeek and hoursOfDay, a window, or an interval of once says so.
type TimeBasedSpotScheduleSpec struct {
	// timezone is the IANA name of the time zone of days, hours, windows and
	// dates, such as Europe/Berlin.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+\-/]*$`
	Timezone *string `json:"timezone,omitempty"`

	// enabled set to false makes the schedule inactive at all times.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// daysOfWeek are weekdays mon to sun. An item is a weekday, a range with both
	// ends included that may run over the end of the week (fri-mon), or several
	// of those with commas between. With hoursOfDay it makes the schedule active
	// at each instant whose local weekday and hour are both listed. Empty: never.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	DaysOfWeek []string `json:"daysOfWeek,omitempty"`

	// hoursOfDay are hours 0 to 23. An item is an hour, a range with both ends
	// included that may run over midnight (9-17 is 09:00 until 18:00, 22-6 is
	// 22:00 until 07:00), or several of those with commas between. Hours after
	// midnight count for the weekday they are on. Empty: never.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	HoursOfDay []string `json:"hoursOfDay,omitempty"`

	// windows are stretches of a day to the minute.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Windows []TimeWindow `json:"windows,omitempty"`

	// exceptDates are dates YYYY-MM-DD of the time zone on which no window starts
	// and no hour of hoursOfDay counts. They do not touch once.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=366
	// +kubebuilder:validation:items:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	ExceptDates []string `json:"exceptDates,omitempty"`

	// once are intervals during which the schedule is active besides.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Once []TimeInterval `json:"once,omitempty"`
}

// TimeWindow opens at start and closes at end, on each of its days.
//
// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="start and end must differ; for the whole day write start 00:00 and end 24:00",fieldPath=".end"
type TimeWindow struct {
	// days are the weekdays on which the window starts, as in daysOfWeek.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	Days []string `json:"days"`

	// start is the local time HH:MM at which the window opens. Where the clock
	// skips that time it opens at the end of the gap; where the clock shows it
	// twice, at the first.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start"`

	// end is the local time HH:MM at which the window closes; 24:00 is the end of
	// the day. An end before start is on the next day, and belongs to the day on
	// which the window starts.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`
	End string `json:"end"`
}

// TimeInterval lasts from start until end.
//
// +kubebuilder:validation:XValidation:rule="self.start < self.end",message="end must be after start",fieldPath=".end"
type TimeInterval struct {
	// start is the instant (RFC 3339, whole seconds) at which the interval opens.
	// +required
	// +kubebuilder:validation:Format=date-time
	Start string `json:"start"`

	// end is the instant (RFC 3339, whole seconds) at which the interval closes.
	// +required
	// +kubebuilder:validation:Format=date-time
	End string `json:"end"`
}

// TimeBasedSpotScheduleList is a list of TimeBasedSpotSchedule objects.
//
// +kubebuilder:object:root=true
type TimeBasedSpotScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TimeBasedSpotSchedule `json:"items"`
}

// ScheduleStatus returns the status block of the contract.
func (s *TimeBasedSpotSchedule) ScheduleStatus() *contract.Status { return &s.Status }

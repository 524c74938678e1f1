// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/contract"
)

// CapitalMarketsSchedule is active while a market is in session.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=capitalmarketsschedules,singular=capitalmarketsschedule,shortName=cms,scope=Namespaced
// +kubebuilder:printcolumn:name="Active",type=boolean,JSONPath=`.status.active`
// +kubebuilder:printcolumn:name="Exchange",type=string,JSONPath=`.spec.exchange`,priority=1
// +kubebuilder:printcolumn:name="Timezone",type=string,JSONPath=`.spec.timezone`
// +kubebuilder:printcolumn:name="NextTransition",type=string,JSONPath=`.status.nextTransitionTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CapitalMarketsSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec CapitalMarketsScheduleSpec `json:"spec"`
	// +optional
	Status contract.Status `json:"status,omitempty"`
}

// CapitalMarketsScheduleSpec says when the market is in session: the sessions of
// an exchange, those listed here, or both.
type CapitalMarketsScheduleSpec struct {
	// exchange is the market identifier code (ISO 10383) of an exchange, such as
	// XNYS. It brings the exchange's time zone, sessions, holidays and early
	// closes, and is a complete spec by itself; the other fields add to it.
	// +optional
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]{4}$`
	Exchange string `json:"exchange,omitempty"`

	// timezone is the IANA name of the time zone of the hours and dates below,
	// such as America/New_York. Absent: the zone of the exchange, or UTC. The
	// exchange's own sessions, and what holidays, earlyCloses and lateOpens do to
	// them, stay in the exchange's zone.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+\-/]*$`
	Timezone *string `json:"timezone,omitempty"`

	// sessions are weekly sessions. The schedule is active in each of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=200
	Sessions []TradingSession `json:"sessions,omitempty"`

	// holidays are dates YYYY-MM-DD without a session: the date of the session for
	// one given by open and close, the local date for one given by hoursOfDay. A
	// session of the exchange is closed too.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=366
	// +kubebuilder:validation:items:MaxLength=10
	// +kubebuilder:validation:items:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	Holidays []string `json:"holidays,omitempty"`

	// earlyCloses are dates on which sessions end before their time. Of several
	// for one date the earliest counts; none makes a session longer.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=366
	EarlyCloses []EarlyClose `json:"earlyCloses,omitempty"`

	// lateOpens are dates on which sessions begin after their time. Of several for
	// one date the latest counts; none makes a session longer.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=366
	LateOpens []LateOpen `json:"lateOpens,omitempty"`

	// specialSessions are sessions on single dates, holidays or not. Early closes
	// and late opens do not touch them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=366
	SpecialSessions []SpecialSession `json:"specialSessions,omitempty"`

	// leadTime makes the schedule active so long before each session opens: a
	// whole number followed by s, m or h, at most 168h.
	// +optional
	LeadTime SessionMargin `json:"leadTime,omitempty"`

	// lagTime keeps the schedule active so long after each session closes: a whole
	// number followed by s, m or h, at most 168h.
	// +optional
	LagTime SessionMargin `json:"lagTime,omitempty"`

	// bridgeGaps keeps the schedule active through every gap that is shorter than
	// this, a lunch break say. A gap is what leadTime and lagTime leave of it. A
	// whole number followed by s, m or h, at most 168h.
	// +optional
	BridgeGaps SessionMargin `json:"bridgeGaps,omitempty"`
}

// TradingSession is a weekly session, in one of two forms. With hoursOfDay it is
// in session at each instant whose local weekday and hour are both listed. With
// open and close it lasts from one to the other, to the minute.
//
// +kubebuilder:validation:XValidation:rule="has(self.open) == has(self.close)",message="open and close go together"
// +kubebuilder:validation:XValidation:rule="!has(self.open) || !has(self.hoursOfDay) || size(self.hoursOfDay) == 0",message="give either hoursOfDay, or open and close"
// +kubebuilder:validation:XValidation:rule="!has(self.openDayOffset) || has(self.open)",message="openDayOffset needs open and close"
// +kubebuilder:validation:XValidation:rule="!has(self.open) || !has(self.close) || self.open != self.close || (has(self.openDayOffset) && self.openDayOffset != 0)",message="open and close must differ; for the whole day write open 00:00 and close 24:00"
type TradingSession struct {
	// daysOfWeek are weekdays mon to sun. An item is a weekday, a range with both
	// ends included that may run over the end of the week (fri-mon), or several
	// of those with commas between. For open and close they are the weekdays of
	// the trading date.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	DaysOfWeek []string `json:"daysOfWeek,omitempty"`

	// hoursOfDay are hours 0 to 23. An item is an hour, a range with both ends
	// included that may run over midnight (9-16 is 09:00 until 17:00), or several
	// of those with commas between. Hours after midnight count for the weekday
	// they are on.
	// +optional
	// +listType=atomic
	HoursOfDay []string `json:"hoursOfDay,omitempty"`

	// open is the local time HH:MM at which the session opens. Where the clock
	// skips that time it opens at the end of the gap; where the clock shows it
	// twice, at the first.
	// +optional
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Open string `json:"open,omitempty"`

	// close is the local time HH:MM at which the session closes; 24:00 is the end
	// of the trading date. A close before open is on the day after, unless the
	// session opens on the day before.
	// +optional
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`
	Close string `json:"close,omitempty"`

	// openDayOffset set to -1 opens the session on the day before its trading
	// date, as futures exchanges do.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=0
	OpenDayOffset *int32 `json:"openDayOffset,omitempty"`
}

// EarlyClose ends the sessions of a date before their time.
//
// +kubebuilder:validation:XValidation:rule="has(self.closeHour) != has(self.close)",message="give one of closeHour and close"
type EarlyClose struct {
	// date is the date YYYY-MM-DD.
	// +required
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	Date string `json:"date"`

	// closeHour is the last hour of the session, 0 to 23, included: 13 closes at
	// 14:00.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	CloseHour *int32 `json:"closeHour,omitempty"`

	// close is the local time HH:MM at which the session closes.
	// +optional
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`
	Close string `json:"close,omitempty"`
}

// LateOpen begins the sessions of a date after their time.
type LateOpen struct {
	// date is the date YYYY-MM-DD.
	// +required
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	Date string `json:"date"`

	// open is the local time HH:MM at which the session opens.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Open string `json:"open"`
}

// SpecialSession is a session on one date.
//
// +kubebuilder:validation:XValidation:rule="self.open != self.close",message="open and close must differ; for the whole day write open 00:00 and close 24:00"
type SpecialSession struct {
	// date is the date YYYY-MM-DD on which the session opens.
	// +required
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
	Date string `json:"date"`

	// open is the local time HH:MM at which the session opens.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Open string `json:"open"`

	// close is the local time HH:MM at which the session closes; 24:00 is the end
	// of the date, and a close before open is on the day after.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`
	Close string `json:"close"`
}

// SessionMargin is a whole number of seconds (s), minutes (m) or hours (h), at
// most 168h.
//
// +kubebuilder:validation:MaxLength=19
// +kubebuilder:validation:Pattern=`^[0-9]+[smh]$`
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+[smh]$') || int(self.substring(0, size(self) - 1)) <= (self.endsWith('s') ? 604800 : (self.endsWith('m') ? 10080 : 168))",message="must be at most 168h"
type SessionMargin string

// CapitalMarketsScheduleList is a list of CapitalMarketsSchedule objects.
//
// +kubebuilder:object:root=true
type CapitalMarketsScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CapitalMarketsSchedule `json:"items"`
}

// ScheduleStatus returns the status block of the contract.
func (s *CapitalMarketsSchedule) ScheduleStatus() *contract.Status { return &s.Status }

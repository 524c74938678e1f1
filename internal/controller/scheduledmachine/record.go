// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// outlook is what a status says of the schedule, and of how the machine follows it.
type outlook struct {
	v1beta1.SpotScheduleStatus
	v1beta1.FollowingStatus
}

// outlookOf returns the outlook that is on record; nil where there is none.
func outlookOf(status *v1beta1.ScheduledMachineStatus) *outlook {
	if status.SpotSchedule == nil {
		return nil
	}
	found := &outlook{SpotScheduleStatus: *status.SpotSchedule}
	if status.Following != nil {
		found.FollowingStatus = *status.Following
	}
	return found
}

// put writes the outlook into a status.
func (o *outlook) put(status *v1beta1.ScheduledMachineStatus) {
	status.SpotSchedule, status.Following = nil, nil
	if o == nil {
		return
	}
	status.SpotSchedule = &o.SpotScheduleStatus
	if !equality.Semantic.DeepEqual(o.FollowingStatus, v1beta1.FollowingStatus{}) {
		status.Following = &o.FollowingStatus
	}
}

// record returns what the status is to say about the schedule after a reading,
// and the instant at which it says something else though nobody tells; zero when
// only an event can change it. An unresolved reading leaves the last verdict in
// place: it is held.
func record(spec *v1beta1.ScheduledMachineSpec, before *outlook, reading contract.Reading, now time.Time) (*outlook, time.Time) {
	after := &outlook{SpotScheduleStatus: v1beta1.SpotScheduleStatus{
		Resolved:           reading.Resolved(),
		Reason:             reading.Reason,
		Message:            reading.Message,
		ProviderGeneration: reading.ObservedGeneration,
		Stale:              reading.Stale(),
	}}
	if before != nil {
		after.Active = before.Active
		after.LastTransitionTime = before.LastTransitionTime
		after.RecentTransitions = before.RecentTransitions
	}
	if active := reading.State == contract.Active; reading.Resolved() && (after.Active == nil || *after.Active != active) {
		after.Active = new(active)
		after.LastTransitionTime = new(metav1.NewTime(now).Rfc3339Copy())
		after.RecentTransitions = recentTransitions(spec, before, now)
	}
	return after, follow(spec, before, after, reading, now)
}

// recorded reports whether the verdict of a record, and what is made of it,
// already stand in the status.
func recorded(before, after *outlook) bool {
	return verdictOf(before) == verdictOf(after) && followedOf(before) == followedOf(after)
}

// verdictOf returns the last verdict: inactive where none was ever given.
func verdictOf(o *outlook) bool {
	return o != nil && ptr.Deref(o.Active, false)
}

// followedOf returns the verdict that the machine follows.
func followedOf(o *outlook) bool {
	if o != nil && o.Followed != nil {
		return *o.Followed
	}
	return verdictOf(o)
}

// everResolved reports whether the schedule ever gave a verdict.
func everResolved(o *outlook) bool {
	return o != nil && o.Active != nil
}

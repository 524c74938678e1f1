// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// record returns what the status is to say about the schedule after a reading,
// and the instant at which it says something else though nobody tells; zero when
// only an event can change it. An unresolved reading leaves the last verdict in
// place: it is held.
func record(spec *v1beta1.ScheduledMachineSpec, before *v1beta1.SpotScheduleStatus, reading contract.Reading, now time.Time) (*v1beta1.SpotScheduleStatus, time.Time) {
	after := &v1beta1.SpotScheduleStatus{
		Resolved:           reading.Resolved(),
		Reason:             reading.Reason,
		Message:            reading.Message,
		ProviderGeneration: reading.ObservedGeneration,
		Stale:              reading.Stale(),
	}
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
func recorded(before, after *v1beta1.SpotScheduleStatus) bool {
	return verdictOf(before) == verdictOf(after) && followedOf(before) == followedOf(after)
}

// verdictOf returns the last verdict: inactive where none was ever given.
func verdictOf(status *v1beta1.SpotScheduleStatus) bool {
	return status != nil && ptr.Deref(status.Active, false)
}

// followedOf returns the verdict that the machine follows.
func followedOf(status *v1beta1.SpotScheduleStatus) bool {
	if status != nil && status.Followed != nil {
		return *status.Followed
	}
	return verdictOf(status)
}

// everResolved reports whether the schedule ever gave a verdict.
func everResolved(status *v1beta1.SpotScheduleStatus) bool {
	return status != nil && status.Active != nil
}

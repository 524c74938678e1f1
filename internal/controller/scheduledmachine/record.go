// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// record returns what the status is to say about the schedule after a reading.
// An unresolved reading leaves the last verdict in place: it is held.
func record(before *v1beta1.SpotScheduleStatus, reading contract.Reading, now time.Time) *v1beta1.SpotScheduleStatus {
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
	}
	if !reading.Resolved() {
		return after
	}
	active := reading.State == contract.Active
	if after.Active == nil || *after.Active != active {
		after.Active = new(active)
		after.LastTransitionTime = new(metav1.NewTime(now).Rfc3339Copy())
	}
	return after
}

// recorded reports whether the verdict of a record already stands in the status.
func recorded(before, after *v1beta1.SpotScheduleStatus) bool {
	return verdictOf(before) == verdictOf(after)
}

// verdictOf returns the verdict to go by: inactive where none was ever given.
func verdictOf(status *v1beta1.SpotScheduleStatus) bool {
	return status != nil && ptr.Deref(status.Active, false)
}

// everResolved reports whether the schedule ever gave a verdict.
func everResolved(status *v1beta1.SpotScheduleStatus) bool {
	return status != nil && status.Active != nil
}

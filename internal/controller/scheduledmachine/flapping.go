// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// A schedule flaps when it changes its verdict flappingChanges times within
// flappingWindow, or within twice spec.minimumStateDuration if that is longer.
const (
	flappingChanges = 4
	flappingWindow  = 10 * time.Minute
	// keptTransitions is the schema's bound.
	keptTransitions = 8
)

func windowOf(spec *v1beta1.ScheduledMachineSpec) time.Duration {
	return max(flappingWindow, 2*timeoutOr(spec.MinimumStateDuration, 0))
}

// recentTransitions returns the changes before the one that happens now, as far
// as they still count.
func recentTransitions(spec *v1beta1.ScheduledMachineSpec, before *outlook, now time.Time) []metav1.Time {
	if before == nil || before.LastTransitionTime == nil {
		return nil
	}
	var recent []metav1.Time
	for _, at := range append(slices.Clip(before.RecentTransitions), *before.LastTransitionTime) {
		if now.Before(at.Add(windowOf(spec))) {
			recent = append(recent, at)
		}
	}
	return recent[max(0, len(recent)-keptTransitions):]
}

// flapping reports whether the schedule flaps, and if so until when that is said.
func flapping(spec *v1beta1.ScheduledMachineSpec, record *outlook, now time.Time) (is bool, until time.Time) {
	if record == nil || record.LastTransitionTime == nil || len(record.RecentTransitions) < flappingChanges-1 {
		return false, time.Time{}
	}
	// The last change and the ones before it: the oldest that makes up the number.
	oldest := record.RecentTransitions[len(record.RecentTransitions)-(flappingChanges-1)]
	until = oldest.Add(windowOf(spec))
	if !now.Before(until) {
		return false, time.Time{}
	}
	return true, until
}

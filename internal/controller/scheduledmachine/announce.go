// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// noteLimit is the API server's limit for an event's note.
const noteLimit = 1024

// announce records an event for a change of phase, and for the creation of a Machine.
func (r *Reconciler) announce(f *facts, after *v1beta1.ScheduledMachineStatus) {
	before := f.sm.Status.Phase
	if f.created() {
		r.events.Eventf(f.sm, nil, corev1.EventTypeNormal, v1beta1.ReasonMachineCreated, "CreateMachine",
			"Created Machine %s and its bootstrap and infrastructure objects", f.sm.Name)
	}
	if before == after.Phase {
		return
	}
	if before == "" {
		before = "New"
	}
	kind := corev1.EventTypeNormal
	if after.Phase == v1beta1.PhaseError || after.Phase == v1beta1.PhaseTerminated {
		kind = corev1.EventTypeWarning
	}
	note := string(before) + " -> " + string(after.Phase) + ": " + after.Message
	r.events.Eventf(f.sm, nil, kind, eventReason(after), "PhaseTransitionTo"+string(after.Phase), "%s", clip(note))
}

// eventReason is the reason of the Ready condition, but for the end of a
// shutdown, which is the Machine's deletion.
func eventReason(status *v1beta1.ScheduledMachineStatus) string {
	if status.Phase == v1beta1.PhaseInactive && status.LastScheduledTime != nil {
		return v1beta1.ReasonMachineDeleted
	}
	if ready := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return v1beta1.ReasonReconcileSucceeded
}

func clip(note string) string {
	if len(note) <= noteLimit {
		return note
	}
	const ellipsis = "…"
	cut := noteLimit - len(ellipsis)
	for cut > 0 && note[cut]&0xC0 == 0x80 { // not inside a rune
		cut--
	}
	return note[:cut] + ellipsis
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// Limits of what is written for people, in bytes. An event's note is limited by
// the API server, a condition's message to what somebody will read: Cluster
// API's and the API server's own messages can be of any length.
const (
	noteLimit    = 1024
	messageLimit = 2048
)

// announce records an event for each thing that happened to the machine, and
// for a change of phase.
func (r *Reconciler) announce(f *facts, after *v1beta1.ScheduledMachineStatus) {
	for _, happened := range happenings(f, after) {
		r.events.Eventf(f.sm, nil, happened.kind, happened.reason, happened.action, "%s", clip(happened.note, noteLimit))
	}
}

// happening is an event to be.
type happening struct{ kind, reason, action, note string }

func happenings(f *facts, after *v1beta1.ScheduledMachineStatus) []happening {
	before := &f.sm.Status
	var all []happening
	add := func(kind, reason, action, note string) { all = append(all, happening{kind, reason, action, note}) }
	if before.MachineRef != nil && (after.MachineRef == nil || f.created()) {
		add(corev1.EventTypeNormal, v1beta1.ReasonMachineDeleted, "DeleteMachine", "Machine "+f.sm.Name+" is gone")
	}
	if f.created() || before.MachineRef == nil && after.MachineRef != nil {
		add(corev1.EventTypeNormal, v1beta1.ReasonMachineCreated, "CreateMachine",
			"Created Machine "+f.sm.Name+" and its bootstrap and infrastructure objects")
	}
	if flaps(after.Conditions) && !flaps(before.Conditions) {
		add(corev1.EventTypeWarning, v1beta1.ReasonVerdictChangesOften, "FollowSchedule",
			meta.FindStatusCondition(after.Conditions, v1beta1.ConditionScheduleFlapping).Message)
	}
	all = append(all, drainHappenings(f, after)...)
	if f.nodeLeft != "" {
		add(corev1.EventTypeWarning, v1beta1.ReasonNodeDeletionFailed, "DeleteNode",
			"Node "+before.NodeRef.Name+" is left in the workload cluster, and no longer tried to be deleted: "+f.nodeLeft)
	}
	return append(all, transition(before.Phase, after)...)
}

// drainHappenings tells of a drain that began or ended; one that is skipped, or given up
// with its cluster, ends untold.
func drainHappenings(f *facts, after *v1beta1.ScheduledMachineStatus) []happening {
	const action = "DrainNode"
	switch was, is := machineReady(f.sm.Status.Conditions), machineReady(after.Conditions); {
	case was.Reason == is.Reason:
	case is.Reason == v1beta1.ReasonNodeDraining:
		return []happening{{corev1.EventTypeNormal, is.Reason, action, is.Message}}
	case is.Reason == v1beta1.ReasonNodeDrainFailed:
		return []happening{{corev1.EventTypeWarning, is.Reason, action, is.Message}}
	case endedUnseen(f):
		return []happening{{corev1.EventTypeWarning, v1beta1.ReasonNodeDrainFailed, action, unfinished(was)}}
	case drained(f):
		return []happening{{corev1.EventTypeNormal, v1beta1.ReasonNodeDrained, action, "The node is drained"}}
	}
	return nil
}

// flaps reports whether conditions say that the schedule flaps.
func flaps(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, v1beta1.ConditionScheduleFlapping)
}

func machineReady(conditions []metav1.Condition) metav1.Condition {
	if found := meta.FindStatusCondition(conditions, v1beta1.ConditionMachineReady); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// transition is the change of phase, if there is one, for the reason of Ready.
func transition(before v1beta1.Phase, after *v1beta1.ScheduledMachineStatus) []happening {
	if before == after.Phase {
		return nil
	}
	kind := corev1.EventTypeNormal
	worse := before == v1beta1.PhaseActive && after.Phase == v1beta1.PhasePending
	if worse || after.Phase == v1beta1.PhaseError || after.Phase == v1beta1.PhaseTerminated {
		kind = corev1.EventTypeWarning
	}
	reason := v1beta1.ReasonReconcileSucceeded
	if ready := meta.FindStatusCondition(after.Conditions, v1beta1.ConditionReady); ready != nil {
		reason = ready.Reason
	}
	note := phaseName(before) + " -> " + string(after.Phase) + ": " + after.Message
	return []happening{{kind, reason, "PhaseTransitionTo" + string(after.Phase), note}}
}

// phaseName returns the name of a phase, also of that of a ScheduledMachine which
// has no status yet.
func phaseName(phase v1beta1.Phase) string {
	return cmp.Or(string(phase), "New")
}

// clip cuts a text to a number of bytes, not inside a rune.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	cut := limit - len(ellipsis)
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + ellipsis
}

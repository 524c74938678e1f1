// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// want is what the machine should be, and why.
type want struct {
	// up wants a machine; otherwise there should be none.
	up bool
	// skipDrain wants the machine gone without draining its node.
	skipDrain bool
	// bySchedule is true when the schedule's verdict decided.
	bySchedule bool
	// reason is the condition reason that goes with the decision.
	reason string
	// rest is the phase to be in once there is no machine.
	rest v1beta1.Phase
}

// decide applies the precedence: killSwitch, then deletion, then enabled=false,
// then the verdict that is followed. The switch comes first because a machine that is
// being deleted may be killed too.
func decide(sm *v1beta1.ScheduledMachine, record *outlook) want {
	switch {
	case sm.Spec.KillSwitch:
		return want{skipDrain: true, reason: v1beta1.ReasonKillSwitchActivated, rest: v1beta1.PhaseTerminated}
	case !sm.DeletionTimestamp.IsZero():
		return want{reason: v1beta1.ReasonMachineDeleted, rest: v1beta1.PhaseTerminated}
	case !ptr.Deref(sm.Spec.Enabled, true):
		return want{reason: v1beta1.ReasonScheduleDisabled, rest: v1beta1.PhaseDisabled}
	case !everResolved(record):
		return want{bySchedule: true, reason: v1beta1.ReasonAwaitingSchedule, rest: v1beta1.PhaseInactive}
	}
	return bySchedule(record)
}

// bySchedule is what is wanted by a schedule that has given a verdict.
func bySchedule(record *outlook) want {
	wanted := want{up: followedOf(record), bySchedule: true}
	if !wanted.up {
		wanted.rest = v1beta1.PhaseInactive
	}
	switch verdict := verdictOf(record); {
	case wanted.up && record.Ahead:
		wanted.reason = v1beta1.ReasonActivationLead
	case wanted.up != verdict:
		wanted.reason = v1beta1.ReasonMinimumStateDuration
	case verdict:
		wanted.reason = v1beta1.ReasonScheduleActive
	default:
		wanted.reason = v1beta1.ReasonScheduleInactive
	}
	return wanted
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// trouble returns what keeps the machine from being what is wanted and needs a
// person; "" if nothing does.
func trouble(f *facts) (reason, message string) {
	switch {
	case f.failure != nil && !errors.Is(f.failure, errGoing) && !errors.Is(f.failure, errConnecting):
		return failureReason(f), f.failure.Error()
	case f.machine() == nil && unreadable(f.seen) != nil:
		return v1beta1.ReasonReferencesInvalid, "It cannot be told what there is of the machine: " + unreadable(f.seen).Error()
	case !f.wanted.up:
		return "", ""
	case f.seen.machine.foreign():
		foreign := &foreignError{f.seen.machine.kind.Kind, f.sm.Namespace, f.sm.Name}
		return v1beta1.ReasonMachineCreationFailed, foreign.Error()
	case failed(f):
		return machineFailure(f)
	case f.machine() == nil && len(f.seen.problems) > 0:
		return v1beta1.ReasonReferencesInvalid, f.seen.problems.ToAggregate().Error()
	}
	return "", ""
}

// machineFailure says why the Machine failed and what is done about it.
func machineFailure(f *facts) (reason, message string) {
	if f.failures == nil {
		return f.fault.reason, f.fault.message
	}
	return f.fault.reason, fmt.Sprintf("%s. It is replaced at %s (failure %d)", f.fault.message,
		f.failures.ReplaceTime.UTC().Format(time.RFC3339), f.failures.Count)
}

func failureReason(f *facts) string {
	switch f.did {
	case stepCreate:
		return v1beta1.ReasonMachineCreationFailed
	case stepDelete, stepReplace, stepDrain, stepLetGo, stepForgetNode, stepSkipDrain, stepCleanUp:
		return v1beta1.ReasonMachineDeletionFailed
	case stepNone, stepRecord, stepBeginDrain, stepGiveUpDrain, stepHold, stepQueue, stepSyncDrain, stepRelease, stepAbandon:
	}
	return v1beta1.ReasonReconcileFailed
}

// phaseOf sums the facts up.
func phaseOf(f *facts) v1beta1.Phase {
	machine := f.machine()
	reason, _ := trouble(f)
	switch {
	case reason != "":
		return v1beta1.PhaseError
	case machine != nil && !machine.DeletedAt.IsZero(), goingWithoutMachine(f):
		return v1beta1.PhaseShuttingDown
	case f.wanted.up && machine != nil && machine.Running():
		return v1beta1.PhaseActive
	case f.wanted.up:
		return v1beta1.PhasePending
	case remains(f.seen):
		return v1beta1.PhaseShuttingDown
	}
	return f.wanted.rest
}

// draining reports whether we drain the node of a Machine that goes ourselves.
func draining(f *facts) bool {
	machine := f.machine()
	return machine != nil && !machine.DeletedAt.IsZero() && machine.Held && oursToDrain(f, machine) && !f.wanted.skipDrain && !letGo(f)
}

// letGo reports whether this very reconcile let a Machine go that Cluster API held for us.
func letGo(f *facts) bool {
	return f.failure == nil && (f.did == stepLetGo || f.drain != nil && f.drain.done)
}

// goingWithoutMachine reports whether objects are on their way out that no Machine holds.
func goingWithoutMachine(f *facts) bool {
	if f.machine() != nil || f.created() {
		return false
	}
	return f.seen.bootstrap.deleting() || f.seen.infrastructure.deleting() || len(f.seen.leftovers) > 0 || f.did == stepForgetNode
}

// messageOf says in words why the machine is in its phase.
func messageOf(f *facts, phase v1beta1.Phase) string {
	message := phaseMessage(f, phase)
	if f.wanted.bySchedule && !f.record.Resolved {
		return holding(f.record) + ". " + message
	}
	return message
}

// numbered matches whatever has a digit in it: a port, a time, the number of a request.
var numbered = regexp.MustCompile(`[[:alnum:]]*[0-9][[:alnum:]]*`)

// steady returns the message of a failure as it was told before, where it differs in
// numbers alone. A status that changes wakes the reconcile: told anew each time, a
// failure would be tried again at once, and for ever.
func steady(f *facts, message string) string {
	const number = "#"
	was := f.sm.Status.Message
	if f.failure == nil || f.sm.Status.ObservedGeneration != f.sm.Generation { // an edit may be about a number
		return message
	}
	if numbered.ReplaceAllString(was, number) == numbered.ReplaceAllString(message, number) {
		return was
	}
	return message
}

// holding says what an unresolved schedule means for the machine.
func holding(record *outlook) string {
	if !everResolved(record) {
		return "The schedule has not given a verdict yet, so the machine stays down: " + record.Message
	}
	verdict := "inactive"
	if verdictOf(record) {
		verdict = "active"
	}
	return "The schedule cannot be read; holding its last verdict, " + verdict + ": " + record.Message
}

func phaseMessage(f *facts, phase v1beta1.Phase) string {
	schedule := f.sm.Spec.Schedule.Kind + " " + f.sm.Spec.Schedule.Name
	switch phase {
	case v1beta1.PhaseError:
		_, message := trouble(f)
		return message
	case v1beta1.PhaseActive:
		return activeMessage(f, schedule)
	case v1beta1.PhasePending:
		return pendingMessage(f, schedule)
	case v1beta1.PhaseShuttingDown:
		return shutdownMessage(f, schedule)
	case v1beta1.PhaseDisabled:
		return "spec.enabled is false"
	case v1beta1.PhaseTerminated:
		if !f.sm.Spec.KillSwitch {
			return "The machine is gone, and the ScheduledMachine is being deleted"
		}
		return "spec.killSwitch is on: clear it to let the schedule decide again"
	case v1beta1.PhaseInactive:
		switch f.wanted.reason {
		case v1beta1.ReasonAwaitingSchedule:
			return "Waiting for the first verdict of " + schedule
		case v1beta1.ReasonMinimumStateDuration:
			return schedule + " is active; spec.minimumStateDuration keeps the machine down until " + heldUntil(f)
		}
		return schedule + " is inactive"
	}
	return ""
}

func activeMessage(f *facts, schedule string) string {
	message := "The machine runs and its node " + f.machine().NodeName + " is ready"
	switch f.wanted.reason {
	case v1beta1.ReasonActivationLead:
		return message + ", ahead of the opening of " + schedule
	case v1beta1.ReasonMinimumStateDuration:
		return message + ". " + schedule + " is inactive; spec.minimumStateDuration keeps the machine up until " + heldUntil(f)
	}
	return message
}

// heldUntil is when spec.minimumStateDuration lets the machine follow its schedule.
func heldUntil(f *facts) string {
	if f.record.FollowedSince == nil {
		return "its time is over"
	}
	return f.record.FollowedSince.Add(timeoutOr(f.sm.Spec.MinimumStateDuration, 0)).UTC().Format(time.RFC3339)
}

func pendingMessage(f *facts, schedule string) string {
	machine := f.machine()
	if f.created() {
		machine = &capi.MachineState{} // it says nothing yet, which is what it will say first
	}
	why := schedule + " is active"
	if f.wanted.reason == v1beta1.ReasonActivationLead {
		why = schedule + " opens soon, and spec.activationLead wants the machine up ahead of it"
	}
	switch {
	case f.did == stepQueue:
		return why + ": waiting until fewer other machines are coming up"
	case machine == nil:
		return why + ": creating the Machine"
	case ranBefore(f):
		return "The machine was up, and waits for " + missing(machine)
	}
	return "The Machine is coming up, waiting for " + missing(machine)
}

// ranBefore reports whether the Machine that is not up has been.
func ranBefore(f *facts) bool {
	machine := f.machine()
	return machine != nil && machine.DeletedAt.IsZero() && wasReady(f.sm, f.seen.machine)
}

// missing names what a Machine that comes up still waits for.
func missing(machine *capi.MachineState) string {
	var parts []string
	if !machine.BootstrapDataCreated {
		parts = append(parts, "its bootstrap data")
	}
	if !machine.InfrastructureProvisioned {
		parts = append(parts, "its infrastructure")
	}
	switch {
	case len(parts) > 0:
	case machine.NodeName == "":
		parts = append(parts, "its node to join the cluster")
	default:
		parts = append(parts, "its node "+machine.NodeName+" to be ready")
	}
	return strings.Join(parts, " and ")
}

func shutdownMessage(f *facts, schedule string) string {
	machine, cause := f.machine(), shutdownCause(f, schedule)
	if machine == nil || machine.DeletedAt.IsZero() {
		return "The machine is going down: " + cause
	}
	until, ownDrain := drainUntil(f, machine), draining(f)
	_, waiting := deleting(machine)
	if ownDrain {
		waiting = f.drain.waiting()
	}
	message := "The machine is going down since " + machine.DeletedAt.UTC().Format(time.RFC3339) + ": " + cause
	switch {
	case cutShort(f):
		message += ". Its drain was cut short"
		if ownDrain || !afterDrain(machine) { // what it waited for is in the condition
			waiting = ""
		}
	case ownDrain, !machine.SkipsDrain && f.sm.Status.DrainStartTime == nil && !afterDrain(machine):
		message += ". A drain that is not done by " + until.UTC().Format(time.RFC3339) + " is cut short"
	}
	if waiting != "" {
		message += ". Waiting for: " + strings.TrimPrefix(waiting, waitingFor)
	}
	return message
}

// waitingFor is how most of what is waited for is told.
const waitingFor = "Waiting for "

func shutdownCause(f *facts, schedule string) string {
	if machine := f.seen.machine; f.wanted.up && f.failures != nil && (machine.child == nil || f.failures.MachineUID == machine.child.UID) {
		return "it failed, and is replaced"
	}
	return map[string]string{
		v1beta1.ReasonKillSwitchActivated:  "spec.killSwitch is on",
		v1beta1.ReasonScheduleDisabled:     "spec.enabled is false",
		v1beta1.ReasonMachineDeleted:       "the ScheduledMachine is being deleted",
		v1beta1.ReasonScheduleActive:       schedule + " is active, and a new machine comes once the earlier one is gone",
		v1beta1.ReasonActivationLead:       schedule + " opens soon, and a new machine comes once the earlier one is gone",
		v1beta1.ReasonMinimumStateDuration: schedule + " was inactive, and spec.minimumStateDuration keeps the machine down",
		v1beta1.ReasonScheduleInactive:     schedule + " is inactive",
		v1beta1.ReasonAwaitingSchedule:     schedule + " has not given a verdict",
	}[f.wanted.reason]
}

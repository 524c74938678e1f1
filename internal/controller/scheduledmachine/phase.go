// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"strings"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// trouble returns what keeps the machine from being what is wanted and needs a
// person; "" if nothing does.
func trouble(f *facts) (reason, message string) {
	switch machine := f.machine(); {
	case f.failure != nil && !errors.Is(f.failure, errGoing):
		return failureReason(f), f.failure.Error()
	case !f.wanted.up:
		return "", ""
	case f.seen.machine.foreign():
		foreign := &foreignError{f.seen.machine.kind.Kind, f.sm.Namespace, f.sm.Name}
		return v1beta1.ReasonMachineCreationFailed, foreign.Error()
	case machine != nil && machine.Failure != "":
		return v1beta1.ReasonMachineFailed, "Cluster API gave the Machine up: " + machine.Failure
	case machine == nil && len(f.seen.problems) > 0:
		return v1beta1.ReasonReferencesInvalid, f.seen.problems.ToAggregate().Error()
	}
	return "", ""
}

func failureReason(f *facts) string {
	switch f.did {
	case stepCreate:
		return v1beta1.ReasonMachineCreationFailed
	case stepDelete, stepSkipDrain, stepCleanUp:
		return v1beta1.ReasonMachineDeletionFailed
	case stepNone, stepRecord, stepRelease:
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

// goingWithoutMachine reports whether objects are on their way out that no Machine holds.
func goingWithoutMachine(f *facts) bool {
	if f.machine() != nil || f.created() {
		return false
	}
	return f.seen.bootstrap.deleting() || f.seen.infrastructure.deleting() || len(f.seen.leftovers) > 0
}

// messageOf says in words why the machine is in its phase.
func messageOf(f *facts, phase v1beta1.Phase) string {
	message := phaseMessage(f, phase)
	if f.wanted.bySchedule && !f.record.Resolved {
		return holding(f.record) + ". " + message
	}
	return message
}

// holding says what an unresolved schedule means for the machine.
func holding(record *v1beta1.SpotScheduleStatus) string {
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
		return "The machine runs and its node " + f.machine().NodeName + " is ready"
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
		if everResolved(f.record) {
			return schedule + " is inactive"
		}
		return "Waiting for the first verdict of " + schedule
	}
	return ""
}

func pendingMessage(f *facts, schedule string) string {
	machine := f.machine()
	if f.created() {
		machine = &capi.MachineState{} // it says nothing yet, which is what it will say first
	}
	if machine == nil {
		return schedule + " is active: creating the Machine"
	}
	return "The Machine is coming up, waiting for " + missing(machine)
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
	why := map[string]string{
		v1beta1.ReasonKillSwitchActivated: "spec.killSwitch is on",
		v1beta1.ReasonScheduleDisabled:    "spec.enabled is false",
		v1beta1.ReasonMachineDeleted:      "the ScheduledMachine is being deleted",
		v1beta1.ReasonScheduleActive:      schedule + " is active again, and a new machine comes once the earlier one is gone",
		v1beta1.ReasonScheduleInactive:    schedule + " is inactive",
		v1beta1.ReasonAwaitingSchedule:    schedule + " has not given a verdict",
	}[f.wanted.reason]
	message := "The machine is going down: " + why
	machine := f.machine()
	if cutShort(f) {
		return message + ". Its drain was cut short"
	}
	if f.wanted.up || machine == nil || machine.DeletedAt.IsZero() || machine.SkipsDrain {
		return message
	}
	deadline := shutdownDeadline(f.sm, machine)
	return message + ". A drain that is not done by " + deadline.UTC().Format(time.RFC3339) + " is cut short"
}

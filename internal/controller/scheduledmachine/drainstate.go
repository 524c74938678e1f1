// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/workload"
)

// drainState says how far a machine that goes down is.
func drainState(f *facts, machine *capi.MachineState) (reason, message string) {
	switch {
	case cutShort(f):
		return v1beta1.ReasonNodeDrainFailed, blocked(f)
	case draining(f):
		return v1beta1.ReasonNodeDraining, f.drain.waiting()
	}
	if wasDraining(f) && machine.DeletingReason == clusterv1.MachineDeletingInternalErrorReason &&
		!machine.SkipsDrain && !afterDrain(machine) {
		was := machineReady(f.sm.Status.Conditions)
		return was.Reason, was.Message // it is tried again
	}
	reason, message = deleting(machine)
	if message == "" {
		message = "The Machine is being deleted"
	}
	return reason, message
}

// noMachine says that there is no Machine and, until there is one again, if the drain
// of the last one was cut short.
func noMachine(f *facts) string {
	const message, last = "There is no Machine", ". How the last one went: "
	was := machineReady(f.sm.Status.Conditions)
	switch {
	case was.Reason == v1beta1.ReasonNoMachine:
		return was.Message
	case was.Reason == v1beta1.ReasonNodeDrainFailed:
		return message + last + was.Message
	case endedUnseen(f):
		return message + last + unfinished(was)
	}
	return message
}

// wasDraining reports whether the drain was under way when it was last seen.
func wasDraining(f *facts) bool {
	return machineReady(f.sm.Status.Conditions).Reason == v1beta1.ReasonNodeDraining
}

// givenUp reports whether it is on record that the drain was cut short.
func givenUp(f *facts) bool {
	return machineReady(f.sm.Status.Conditions).Reason == v1beta1.ReasonNodeDrainFailed
}

// endedUnseen reports whether the Machine is gone whose drain was last seen under way,
// and the time of that drain is over. Where the infrastructure goes at once, Cluster
// API's cutting it short can pass by between two looks; our own stands on record before.
func endedUnseen(f *facts) bool {
	until, machine := f.sm.Status.DrainDeadline, f.machine()
	gone := machine == nil || machine.DeletedAt.IsZero() // this is the next one
	return wasDraining(f) && gone && !f.seen.machine.doubtful() && !f.wanted.skipDrain &&
		f.sm.Status.DrainStartTime == nil && until != nil && !f.now.Before(until.Time)
}

// drained reports whether a drain that was last seen under way is known to be done:
// Cluster API has gone on to what comes after it, or we have. It does so too where it
// gives a drain up, since it was told to or the whole cluster goes.
func drained(f *facts) bool {
	machine := f.machine()
	switch {
	case !wasDraining(f), f.wanted.skipDrain, f.seen.machine.doubtful():
		return false
	case f.sm.Status.DrainStartTime != nil:
		return f.drain != nil && f.drain.done && f.failure == nil
	case f.seen.drainer != drainerClusterAPI:
		return false
	}
	return machine == nil || !machine.SkipsDrain
}

// unfinished says what a drain whose end was not seen was waiting for when it was
// last seen.
func unfinished(was metav1.Condition) string {
	return "The drain was not seen to end in time; it was waiting for: " + strings.TrimPrefix(was.Message, waitingFor)
}

// cutShort reports whether the drain was cut short because its time was over.
// Once that was said it stays said until the Machine is gone.
func cutShort(f *facts) bool {
	machine := f.machine()
	switch {
	case machine == nil:
		return false
	case givenUp(f):
		return !machine.DeletedAt.IsZero()
	case f.wanted.skipDrain, machine.DeletedAt.IsZero():
		return false
	case f.did == stepGiveUpDrain, f.drain != nil && f.drain.hopeless != "":
		return true
	case machine.SkipsDrain, f.did == stepSkipDrain && f.failure == nil:
		waited := wasDraining(f) || !afterDrain(machine) &&
			machine.DeletingReason != clusterv1.MachineDeletingWaitingForPreDrainHookReason // which nothing skips
		return waited && !f.now.Before(shutdownDeadline(f.sm, machine))
	}
	// Cluster API goes on by itself when the Machine's own drain timeout is over.
	return wasDraining(f) && machine.DrainTimedOut(f.now)
}

// blocked says what a drain that was cut short had been waiting for: what the
// condition said last, since Cluster API has gone on to the next step.
func blocked(f *facts) string {
	message := "The shutdown was cut short after spec.gracefulShutdownTimeout; Cluster API no longer waits for the node"
	switch was := machineReady(f.sm.Status.Conditions); {
	case was.Reason == v1beta1.ReasonNodeDrainFailed:
		return was.Message
	case f.drain != nil && f.drain.hopeless != "":
		return "The node was not drained, since " + f.drain.hopeless + ". It would wait for: " + strings.TrimPrefix(f.drain.waiting(), waitingFor)
	case was.Reason == v1beta1.ReasonNodeDraining:
		message = "The drain was cut short when its time was over; it was waiting for: " + strings.TrimPrefix(was.Message, waitingFor)
	case f.machine().DeletingReason == "" && f.machine().DeletingMessage == "":
		message += ", once its controller runs: it has not said yet how far the deletion is"
	default:
		if what := f.machine().DeletingMessage; what != "" && !afterDrain(f.machine()) {
			message += ". It was waiting for: " + strings.TrimPrefix(what, waitingFor)
		}
	}
	switch {
	case f.seen.view != nil && f.seen.view.State == workload.Unreachable:
		message += ". The workload cluster cannot be reached: " + f.seen.view.Message
	case f.seen.connection != "":
		message += ". Cluster API cannot reach the workload cluster: " + f.seen.connection
	}
	return message
}

// deleting passes on what Cluster API says of a deletion while it waits for
// something that can take its time; the message is empty otherwise. The other
// steps pass by in a moment, and telling each would cost a write. That it waits
// for us we know better.
func deleting(machine *capi.MachineState) (reason, message string) {
	message = machine.DeletingMessage
	switch machine.DeletingReason {
	case clusterv1.MachineDeletingDrainingNodeReason:
		return v1beta1.ReasonNodeDraining, message
	case clusterv1.MachineDeletingWaitingForPreTerminateHookReason:
		if strings.Contains(message, capi.HoldAnnotation) {
			return v1beta1.ReasonDeleting, ""
		}
		return v1beta1.ReasonDeleting, message
	case clusterv1.MachineDeletingWaitingForVolumeDetachReason,
		clusterv1.MachineDeletingWaitingForPreDrainHookReason,
		clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingWaitingForBootstrapDeletionReason:
		return v1beta1.ReasonDeleting, message
	case clusterv1.MachineDeletingInternalErrorReason:
		if failedToDelete(machine) {
			return v1beta1.ReasonDeleting, message
		}
	}
	return v1beta1.ReasonDeleting, ""
}

// afterDrain reports whether Cluster API is done with the node's pods and volumes,
// so that no time of a drain can cut short what it waits for.
func afterDrain(machine *capi.MachineState) bool {
	switch machine.DeletingReason {
	case clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
		clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingWaitingForBootstrapDeletionReason,
		clusterv1.MachineDeletingDeletingNodeReason, clusterv1.MachineDeletingDeletionCompletedReason:
		return true
	case clusterv1.MachineDeletingInternalErrorReason:
		return failedToDelete(machine)
	}
	return false
}

// failedToDelete reports whether Cluster API says that it could not delete the
// infrastructure or the bootstrap object, for which it has no reason of its own.
func failedToDelete(machine *capi.MachineState) bool {
	return strings.HasPrefix(machine.DeletingMessage, "Failed to delete ")
}

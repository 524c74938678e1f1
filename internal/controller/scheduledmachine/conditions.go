// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/workload"
)

// setConditions merges each condition into the list by its type; conditions of
// others stay.
func setConditions(status *v1beta1.ScheduledMachineStatus, f *facts) {
	for condition, applies := range map[string]bool{
		v1beta1.ConditionAllFieldsActedOn:      len(notActedOn(&f.sm.Spec)) > 0,
		v1beta1.ConditionUpToDate:              f.machine() != nil || f.created(),
		v1beta1.ConditionChildClusterReachable: f.seen.view != nil,
		v1beta1.ConditionNodeTainted:           f.node.wantsTaints,
	} {
		if !applies {
			meta.RemoveStatusCondition(&status.Conditions, condition)
		}
	}
	for _, condition := range []metav1.Condition{
		resolvedCondition(f),
		scheduledCondition(f),
		referencesCondition(f),
		machineCondition(f),
		upToDateCondition(f),
		flappingCondition(f, status),
		f.node.reachable,
		f.node.tainted,
		fieldsCondition(f),
		readyCondition(f, status),
	} {
		if condition.Type == "" {
			continue
		}
		condition.Message = clip(condition.Message, messageLimit)
		condition.ObservedGeneration = f.sm.Generation
		condition.LastTransitionTime = metav1.NewTime(f.now).Rfc3339Copy()
		meta.SetStatusCondition(&status.Conditions, condition)
	}
}

func conditionStatus(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// resolvedCondition says whether the schedule could be read; nothing while its
// kind is still being read.
func resolvedCondition(f *facts) metav1.Condition {
	if !f.seen.readingKnown {
		return metav1.Condition{}
	}
	message := f.record.Message
	if f.record.Stale {
		message += "; the schedule was edited and its provider has not caught up with the edit yet"
	}
	return metav1.Condition{
		Type:   v1beta1.ConditionSpotScheduleResolved,
		Status: conditionStatus(f.record.Resolved), Reason: f.record.Reason, Message: message,
	}
}

func scheduledCondition(f *facts) metav1.Condition {
	condition := metav1.Condition{Type: v1beta1.ConditionScheduled}
	switch schedule := f.sm.Spec.Schedule.Kind + " " + f.sm.Spec.Schedule.Name; {
	case !everResolved(f.record):
		condition.Status, condition.Reason = metav1.ConditionUnknown, v1beta1.ReasonAwaitingSchedule
		condition.Message = schedule + " has not given a verdict yet"
	case verdictOf(f.record):
		condition.Status, condition.Reason = metav1.ConditionTrue, v1beta1.ReasonScheduleActive
		condition.Message = schedule + " wants the machine up"
	default:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonScheduleInactive
		condition.Message = schedule + " wants the machine down"
	}
	return condition
}

func referencesCondition(f *facts) metav1.Condition {
	if len(f.seen.problems) > 0 {
		return metav1.Condition{
			Type: v1beta1.ConditionReferencesValid, Status: metav1.ConditionFalse,
			Reason: v1beta1.ReasonReferencesInvalid, Message: f.seen.problems.ToAggregate().Error(),
		}
	}
	return metav1.Condition{
		Type: v1beta1.ConditionReferencesValid, Status: metav1.ConditionTrue,
		Reason: v1beta1.ReasonReferencesValid, Message: "The embedded specs name kinds that are allowed and installed",
	}
}

// fieldsCondition names the fields that are set and not acted on yet; nothing
// when there are none.
func fieldsCondition(f *facts) metav1.Condition {
	fields := notActedOn(&f.sm.Spec)
	if len(fields) == 0 {
		return metav1.Condition{}
	}
	return metav1.Condition{
		Type: v1beta1.ConditionAllFieldsActedOn, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonFieldsNotActedOn,
		Message: "Accepted and not acted on yet: " + strings.Join(fields, ", "),
	}
}

func notActedOn(spec *v1beta1.ScheduledMachineSpec) []string {
	var fields []string
	for _, field := range []struct {
		path string
		set  bool
	}{
		{"spec.killIfCommands", len(spec.KillIfCommands) > 0},
		{"spec.kata", spec.Kata != nil},
	} {
		if field.set {
			fields = append(fields, field.path)
		}
	}
	return fields
}

// machineCondition mirrors what Cluster API says of the Machine.
func machineCondition(f *facts) metav1.Condition {
	condition := metav1.Condition{Type: v1beta1.ConditionMachineReady, Status: metav1.ConditionFalse}
	switch machine := f.machine(); {
	case machine == nil && f.created():
		condition.Reason, condition.Message = v1beta1.ReasonProvisioning, "Waiting for "+missing(&capi.MachineState{})
	case machine == nil:
		condition.Reason, condition.Message = v1beta1.ReasonNoMachine, "There is no Machine"
	case !machine.DeletedAt.IsZero():
		condition.Reason, condition.Message = drainState(f, machine)
	case failed(f):
		condition.Reason, condition.Message = f.fault.reason, f.fault.message
	case machine.Running():
		condition.Status, condition.Reason = metav1.ConditionTrue, v1beta1.ReasonMachineReady
		condition.Message = "Node " + machine.NodeName + " is ready"
	case machine.NodeName != "":
		condition.Reason, condition.Message = v1beta1.ReasonNodeNotReady, "Waiting for "+missing(machine)
	default:
		condition.Reason, condition.Message = v1beta1.ReasonProvisioning, "Waiting for "+missing(machine)
	}
	return condition
}

// drainState says how far a machine that goes down is.
func drainState(f *facts, machine *capi.MachineState) (reason, message string) {
	switch {
	case cutShort(f):
		return v1beta1.ReasonNodeDrainFailed, blocked(f)
	case draining(f):
		return v1beta1.ReasonNodeDraining, f.drain.waiting()
	}
	reason, message = deleting(machine)
	if message == "" {
		message = "The Machine is being deleted"
	}
	return reason, message
}

// upToDateCondition says whether the Machine that is up was made from the spec as
// it is now; nothing while there is none.
func upToDateCondition(f *facts) metav1.Condition {
	if f.machine() == nil && !f.created() {
		return metav1.Condition{}
	}
	fields := outOfDate(f.sm, f.seen)
	if len(fields) == 0 || f.created() {
		return metav1.Condition{
			Type: v1beta1.ConditionUpToDate, Status: metav1.ConditionTrue,
			Reason: v1beta1.ReasonUpToDate, Message: "The machine was made from the spec as it is now",
		}
	}
	return metav1.Condition{
		Type: v1beta1.ConditionUpToDate, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonOutOfDate,
		Message: "Changed since the machine came up, and taken up when the next one does: " + strings.Join(fields, ", "),
	}
}

// flappingCondition says whether the schedule flaps; nothing as long as it never has.
func flappingCondition(f *facts, status *v1beta1.ScheduledMachineStatus) metav1.Condition {
	condition := metav1.Condition{Type: v1beta1.ConditionScheduleFlapping}
	is, _ := flapping(&f.sm.Spec, f.record, f.now)
	switch {
	case is:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1beta1.ReasonVerdictChangesOften
		condition.Message = fmt.Sprintf("The schedule changed its verdict %d times or more within %s; spec.minimumStateDuration bounds what that does to the machine",
			flappingChanges, windowOf(&f.sm.Spec))
	case meta.FindStatusCondition(status.Conditions, v1beta1.ConditionScheduleFlapping) == nil:
		return metav1.Condition{}
	default:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonVerdictSteady
		condition.Message = "The schedule no longer changes its verdict too often"
	}
	return condition
}

// cutShort reports whether the drain was cut short because its time was over.
// Once that was said it stays said until the Machine is gone.
func cutShort(f *facts) bool {
	machine, was := f.machine(), machineReady(f.sm.Status.Conditions).Reason
	switch {
	case machine == nil:
		return false
	case was == v1beta1.ReasonNodeDrainFailed:
		return !machine.DeletedAt.IsZero()
	case f.wanted.skipDrain, machine.DeletedAt.IsZero():
		return false
	case f.did == stepLetGo && f.sm.Status.DrainStartTime != nil, f.drain != nil && f.drain.hopeless != "":
		return f.failure == nil // our own drain, which ends with the Machine being let go
	case machine.SkipsDrain, f.did == stepSkipDrain && f.failure == nil:
		waited := was == v1beta1.ReasonNodeDraining || !afterDrain(machine.DeletingReason) &&
			machine.DeletingReason != clusterv1.MachineDeletingWaitingForPreDrainHookReason // which nothing skips
		return waited && !f.now.Before(shutdownDeadline(f.sm, machine))
	}
	// Cluster API goes on by itself when the Machine's own drain timeout is over.
	return was == v1beta1.ReasonNodeDraining && machine.DrainTimedOut(f.now)
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
	default:
		if what := f.machine().DeletingMessage; what != "" && !afterDrain(f.machine().DeletingReason) {
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
	}
	return v1beta1.ReasonDeleting, ""
}

// afterDrain reports whether Cluster API is done with the node's pods and volumes,
// so that no time of a drain can cut short what it waits for.
func afterDrain(reason string) bool {
	switch reason {
	case clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
		clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingWaitingForBootstrapDeletionReason,
		clusterv1.MachineDeletingDeletingNodeReason, clusterv1.MachineDeletingDeletionCompletedReason:
		return true
	}
	return false
}

// readyCondition is True when the machine is where it is wanted, Unknown while
// that rests on a verdict that cannot be renewed.
func readyCondition(f *facts, status *v1beta1.ScheduledMachineStatus) metav1.Condition {
	condition := metav1.Condition{Type: v1beta1.ConditionReady, Message: status.Message, Reason: f.wanted.reason}
	reason, _ := trouble(f)
	switch {
	case reason != "":
		condition.Status, condition.Reason = metav1.ConditionFalse, reason
	case f.wanted.bySchedule && !f.record.Resolved:
		condition.Status, condition.Reason = metav1.ConditionUnknown, f.record.Reason
	case f.wanted.reason == v1beta1.ReasonMinimumStateDuration:
		condition.Status = metav1.ConditionFalse
	case status.Phase == v1beta1.PhaseShuttingDown && !f.wanted.up && !f.wanted.skipDrain:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonGracePeriodActive
	case f.did == stepQueue:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonActivationQueued
	case status.Phase == v1beta1.PhaseActive:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1beta1.ReasonMachineReady
	case status.Phase == v1beta1.PhaseInactive, status.Phase == v1beta1.PhaseDisabled:
		condition.Status = metav1.ConditionTrue
	case status.Phase == v1beta1.PhasePending && (f.machine() != nil || f.created()):
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonMachineCreated
	default:
		condition.Status = metav1.ConditionFalse
	}
	return condition
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// setConditions merges each condition into the list by its type; conditions of
// others stay.
func setConditions(status *v1beta1.ScheduledMachineStatus, f *facts) {
	for condition, applies := range map[string]bool{
		v1beta1.ConditionAllFieldsActedOn:      len(notActedOn(&f.sm.Spec)) > 0,
		v1beta1.ConditionUpToDate:              f.machine() != nil || f.created() || f.seen.machine.doubtful(),
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

// machineCondition mirrors what Cluster API says of the Machine; nothing while the
// Machine cannot be read.
func machineCondition(f *facts) metav1.Condition {
	condition := metav1.Condition{Type: v1beta1.ConditionMachineReady, Status: metav1.ConditionFalse}
	switch machine := f.machine(); {
	case f.seen.machine.doubtful():
		return metav1.Condition{}
	case machine == nil && f.created():
		condition.Reason, condition.Message = v1beta1.ReasonProvisioning, "Waiting for "+missing(&capi.MachineState{})
	case machine == nil:
		condition.Reason, condition.Message = v1beta1.ReasonNoMachine, noMachine(f)
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
	case status.Phase == v1beta1.PhasePending && ranBefore(f):
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonNodeNotReady
	case status.Phase == v1beta1.PhasePending && (f.machine() != nil || f.created()):
		condition.Status, condition.Reason = metav1.ConditionFalse, v1beta1.ReasonMachineCreated
	default:
		condition.Status = metav1.ConditionFalse
	}
	return condition
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// checkCreation holds every creation of a Machine against what the controller had read.
func (w *world) checkCreation() {
	sm := w.read
	switch {
	case sm.Spec.KillSwitch, !ptr.Deref(sm.Spec.Enabled, true), !sm.DeletionTimestamp.IsZero():
		w.fatalf("a Machine is created though a switch or the deletion wants none")
	case !followedOf(outlookOf(&sm.Status)):
		w.fatalf("a Machine is created on a verdict that is not on record: %+v", sm.Status.SpotSchedule)
	case w.lastResolved != contract.Active && sm.Spec.MinimumStateDuration == "" && sm.Spec.ActivationLead == "":
		w.fatalf("a Machine is created and the last verdict was %v", w.lastResolved)
	case w.cluster.state != clusterThere:
		w.fatalf("a Machine is created and its Cluster %s", w.cluster.state)
	case w.limit == 1 && w.otherUp:
		w.fatalf("a Machine is created while another one has the only place")
	}
}

// checkDeletion holds every deletion of one against what the API server has.
func (w *world) checkDeletion(machine *unstructured.Unstructured) {
	sm := w.stored()
	switch failures := sm.Status.MachineFailures; {
	case sm.Spec.KillSwitch, !ptr.Deref(sm.Spec.Enabled, true), !sm.DeletionTimestamp.IsZero():
	case failures != nil && failures.MachineUID == machine.GetUID() && !w.clock.Now().Before(failures.ReplaceTime.Time):
	case followedOf(outlookOf(&sm.Status)):
		w.fatalf("a Machine is deleted, and the record says it stays: %+v", sm.Status.SpotSchedule)
	case w.lastResolved == contract.Active && sm.Spec.MinimumStateDuration == "":
		w.fatalf("a Machine is deleted, and the last verdict was active; the schedules read %+v", w.delivered)
	}
	w.checkHeld()
}

// checkRelease holds every change of the finalizers: a ScheduledMachine that is let
// go leaves no Machine, unless it was kept for as long as it may be.
func (w *world) checkRelease(before *v1beta1.ScheduledMachine) {
	if w.stored() == nil && w.machine() != nil && !w.abandoned(before) {
		w.fatalf("the ScheduledMachine is let go and its Machine is there")
	}
}

// abandoned reports whether a ScheduledMachine has been kept for as long as it may
// be after its deletion.
func (w *world) abandoned(sm *v1beta1.ScheduledMachine) bool {
	return !sm.DeletionTimestamp.IsZero() && !w.clock.Now().Before(sm.DeletionTimestamp.Add(shutdownTimeout(sm)+DefaultFinalizerTimeout))
}

// checkStatus holds every write of the status.
func (w *world) checkStatus(before, after *v1beta1.ScheduledMachine) {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		w.fatalf("a status is written that says nothing new")
	}
	ready := meta.FindStatusCondition(after.Status.Conditions, v1beta1.ConditionReady)
	if ready == nil || ready.Reason == "" || ready.Message == "" || after.Status.Message == "" || !slices.Contains(v1beta1.Phases, after.Status.Phase) {
		w.fatalf("the status gives no reason: phase %q, message %q, Ready %+v", after.Status.Phase, after.Status.Message, ready)
	}
	if everResolved(outlookOf(&before.Status)) && !everResolved(outlookOf(&after.Status)) {
		w.fatalf("the verdict on record is lost")
	}
	was, is := machineReady(before.Status.Conditions).Reason, machineReady(after.Status.Conditions)
	if was == v1beta1.ReasonNodeDraining && is.Reason == v1beta1.ReasonNoMachine && w.wentUndrained &&
		!after.Spec.KillSwitch && !strings.Contains(is.Message, "The drain was not seen to end") {
		w.fatalf("a drain was cut short, and all that is said is: %s", is.Message)
	}
	if w.unreadable == capi.MachineKind && !equality.Semantic.DeepEqual(ofMachine(&before.Status), ofMachine(&after.Status)) {
		w.fatalf("the record of a Machine that cannot be read changes from %+v to %+v", ofMachine(&before.Status), ofMachine(&after.Status))
	}
}

// ofMachine returns what a status says of the Machine and its node.
func ofMachine(status *v1beta1.ScheduledMachineStatus) v1beta1.ScheduledMachineStatus {
	ready := machineReady(status.Conditions)
	ready.ObservedGeneration = 0
	return v1beta1.ScheduledMachineStatus{
		Conditions: []metav1.Condition{ready}, DrainDeadline: status.DrainDeadline,
		MachineRef: status.MachineRef, NodeRef: status.NodeRef, ProviderID: status.ProviderID, AppliedNodeTaints: status.AppliedNodeTaints,
		MachineReadyTime: status.MachineReadyTime, DrainStartTime: status.DrainStartTime, LastScheduledTime: status.LastScheduledTime,
	}
}

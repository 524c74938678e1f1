// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// describe returns the status that a person should see.
func describe(f facts) v1beta1.ScheduledMachineStatus {
	status := *f.sm.Status.DeepCopy()
	status.ObservedGeneration = f.sm.Generation
	f.record.put(&status)
	status.InSchedule = verdictOf(f.record)
	describeSchedule(&status, &f)
	describeMachine(&status, &f)
	describeNode(&status, &f)
	status.MachineFailures = f.failures
	status.AppliedNodeTaints = f.node.applied
	status.Phase = phaseOf(&f)
	status.Ready = status.Phase == v1beta1.PhaseActive
	status.Message = steady(&f, clip(messageOf(&f, status.Phase), messageLimit))
	setConditions(&status, &f)
	return status
}

// describeSchedule fills in when the schedule expects to change next.
func describeSchedule(status *v1beta1.ScheduledMachineStatus, f *facts) {
	if !f.seen.readingKnown {
		return
	}
	status.NextActivation, status.NextCleanup = nil, nil
	if overdue := overdueAt(f.seen); overdue.IsZero() || !f.now.Before(overdue) {
		return
	}
	next := new(metav1.NewTime(f.seen.reading.NextTransition).Rfc3339Copy())
	switch f.seen.reading.State {
	case contract.Active:
		status.NextCleanup = next
	case contract.Inactive:
		status.NextActivation = next
	case contract.Unresolved:
	}
}

// overdueAt is when the schedule's word for its next change counts no longer, since
// the change has not come: a provider that is in time for its boundaries takes
// a moment for each. It is zero where there is no such word.
func overdueAt(seen *observation) time.Time {
	if !seen.readingKnown || seen.reading.NextTransition.IsZero() {
		return time.Time{}
	}
	return seen.reading.NextTransition.Add(time.Minute)
}

// describeMachine fills in what exists. What cannot be read stays as it was.
func describeMachine(status *v1beta1.ScheduledMachineStatus, f *facts) {
	if f.seen.machine.unreadable != nil {
		return
	}
	created := f.created()
	switch {
	case created:
		status.LastScheduledTime = new(metav1.NewTime(f.now).Rfc3339Copy())
	case f.machine() != nil && f.sm.Status.MachineRef == nil: // the status of its creation was not written
		status.LastScheduledTime = new(f.seen.machine.child.CreationTimestamp)
	}
	status.MachineRef = reference(f.sm, f.seen.machine, created)
	status.BootstrapRef = embeddedReference(f, &f.sm.Spec.BootstrapSpec, f.seen.bootstrap, f.sm.Status.BootstrapRef)
	status.InfrastructureRef = embeddedReference(f, &f.sm.Spec.InfrastructureSpec, f.seen.infrastructure, f.sm.Status.InfrastructureRef)
}

// describeNode fills in what is known of the machine's node. The Node of a
// machine that we drained ourselves keeps its entry until it is deleted: it is
// how it is found.
func describeNode(status *v1beta1.ScheduledMachineStatus, f *facts) {
	if f.seen.machine.unreadable != nil {
		return
	}
	if forgotten := f.did == stepForgetNode && f.failure == nil; nodeIsLeft(f) && !forgotten {
		return
	}
	status.NodeRef, status.ProviderID, status.DrainDeadline = nil, "", nil
	machine := f.machine()
	if machine == nil {
		status.MachineReadyTime, status.DrainStartTime = nil, nil
		return
	}
	switch {
	case machine.DeletedAt.IsZero():
		status.DrainStartTime = nil
	case f.did == stepBeginDrain:
		status.DrainStartTime = new(metav1.NewTime(f.now).Rfc3339Copy())
	}
	if machineCondition(f).Reason == v1beta1.ReasonNodeDraining {
		status.DrainDeadline = new(metav1.NewTime(drainUntil(f, machine)).Rfc3339Copy())
	}
	status.MachineReadyTime = readyTime(f, machine)
	if machine.InfrastructureProvisioned { // Cluster API tells the one a moment before the other
		status.ProviderID = machine.ProviderID
	}
	if machine.NodeName != "" {
		status.NodeRef = &v1beta1.NodeReference{APIVersion: "v1", Kind: "Node", Name: machine.NodeName, UID: nodeUID(f)}
	}
}

// readyTime is when the present Machine was first seen to run; nil if it never
// was. An API server whose clock is ahead of ours may have made it later than now.
func readyTime(f *facts, machine *capi.MachineState) *metav1.Time {
	was := wasReady(f.sm, f.seen.machine)
	if was && f.sm.Status.MachineReadyTime != nil {
		return f.sm.Status.MachineReadyTime
	}
	if !was && !machine.Running() {
		return nil
	}
	at := ceilSecond(f.now)
	if created := f.seen.machine.child.CreationTimestamp; at.Before(&created) {
		at = created
	}
	return &at
}

// nodeUID returns the UID of the machine's Node, by which it is told from a later
// one of the same name: from the Node where we see it, else from the Machine, of
// which only v1beta1 tells it; "" if neither does.
func nodeUID(f *facts) types.UID {
	machine := f.machine()
	before := f.sm.Status.NodeRef
	switch view := f.seen.view; {
	case view != nil && isOurNode(f):
		return view.Node.UID
	case machine.NodeUID == "" && before != nil && before.Name == machine.NodeName:
		return before.UID // the cluster is out of sight for a while
	}
	return machine.NodeUID
}

func reference(sm *v1beta1.ScheduledMachine, p piece, created bool) *v1beta1.ObjectReference {
	if !p.present() && !created {
		return nil
	}
	return &v1beta1.ObjectReference{
		APIVersion: p.kind.Resource(p.version).GroupVersion().String(),
		Kind:       p.kind.Kind, Namespace: sm.Namespace, Name: sm.Name,
	}
}

// embeddedReference names the object of an embedded spec, from before it is
// created until it is gone: a crash in between leaves nothing unknown. While an object of
// another kind, which the spec named earlier, still exists or has a Machine,
// that one keeps its entry: it is how it is found again.
func embeddedReference(f *facts, object *v1beta1.EmbeddedObject, p piece, before *v1beta1.ObjectReference) *v1beta1.ObjectReference {
	creates := f.wanted.up && (f.did == stepRecord || f.did == stepCreate || f.did == stepQueue)
	switch {
	case p.present(), creates && f.machine() == nil && (before == nil || !isLeftover(f.seen, before)):
		return &v1beta1.ObjectReference{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: f.sm.Namespace, Name: f.sm.Name}
	case f.machine() != nil, before != nil && isLeftover(f.seen, before):
		return before
	}
	return nil
}

func isLeftover(seen *observation, ref *v1beta1.ObjectReference) bool {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	return slices.ContainsFunc(seen.leftovers, func(p piece) bool { return p.kind.GroupKind == kind })
}

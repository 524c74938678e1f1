// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"slices"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// step is the one next thing to do towards what is wanted.
type step int

const (
	// stepNone: everything is as it should be, or something is on its way.
	stepNone step = iota
	// stepRecord: the verdict, and what is to be created by it, have to stand in the
	// status before it is acted upon.
	stepRecord
	// stepBeginDrain: so has that the node of a Machine that goes is ours to drain and
	// to delete: it is how the Node is found once the Machine is gone.
	stepBeginDrain
	// stepGiveUpDrain: so has that a drain of our own is cut short, before the Machine is
	// let go: afterwards nobody can tell.
	stepGiveUpDrain
	// stepCreate: create whichever of the three objects is missing.
	stepCreate
	// stepQueue: as stepCreate, but too many machines are coming up already.
	stepQueue
	// stepHold: have Cluster API wait for us when the Machine is deleted, by whomever,
	// since it would not drain the node.
	stepHold
	// stepLetGo: no longer have it wait.
	stepLetGo
	// stepDelete: delete the Machine; Cluster API drains the node and deletes the rest.
	stepDelete
	// stepReplace: delete a Machine that failed, so that another one can come.
	stepReplace
	// stepDrain: drain the node of a Machine that Cluster API holds for us, and let it
	// go once that is done. One that is hopeless is given up first, as by stepGiveUpDrain.
	stepDrain
	// stepForgetNode: delete the Node of a machine that is gone, since Cluster API did not.
	stepForgetNode
	// stepSyncDrain: give the Machine the drain timeout of the spec.
	stepSyncDrain
	// stepSkipDrain: tell Cluster API to stop waiting for the node's pods and volumes.
	stepSkipDrain
	// stepCleanUp: delete objects that have no Machine, which a crash can leave behind.
	stepCleanUp
	// stepRelease: let the ScheduledMachine itself go.
	stepRelease
	// stepAbandon: as stepRelease, though not everything is gone.
	stepAbandon
)

// next returns the next step, and the instant at which to look again if
// nothing happens until then; zero when only an event can change anything.
func next(f *facts) (step, time.Time) {
	taken, again := nextOfMachine(f)
	if taken == stepDelete && toReplace(f) {
		taken = stepReplace
	}
	if f.sm.DeletionTimestamp.IsZero() {
		return taken, again
	}
	bound := finalizerDeadline(f)
	if taken != stepRelease && !f.now.Before(bound) {
		return stepAbandon, time.Time{}
	}
	return taken, earliest(again, dueLater(bound, f.now))
}

func nextOfMachine(f *facts) (step, time.Time) {
	machine := f.machine()
	switch {
	case heldForAnother(f):
		return stepLetGo, time.Time{}
	case machine != nil && !machine.DeletedAt.IsZero():
		return nextOfGoing(f, machine)
	case machine != nil && !machine.Held && !f.wanted.skipDrain && oursToDrain(f, machine):
		return stepHold, time.Time{}
	case machine != nil && machine.Held && f.seen.drainer == drainerClusterAPI:
		return stepLetGo, time.Time{}
	case machine != nil && (!f.wanted.up || toReplace(f)):
		// A drain timeout that is not the spec's does not hold that up: the Machine is
		// given it while it goes.
		return stepDelete, time.Time{}
	case machine != nil && drainTimeoutDiffers(f.sm, machine):
		return stepSyncDrain, time.Time{}
	case nodeIsLeft(f):
		return stepForgetNode, dueLater(nodeDeadline(f.sm), f.now)
	case f.wanted.up:
		return nextUp(f), time.Time{}
	}
	return nextGone(f), time.Time{}
}

// nextOfGoing is for a Machine that is being deleted, whatever is wanted after
// it: its time is bounded.
func nextOfGoing(f *facts, machine *capi.MachineState) (step, time.Time) {
	ours := oursToDrain(f, machine)
	switch drains := ours && machine.Held && !f.wanted.skipDrain; {
	case ours && f.sm.Status.DrainStartTime == nil: // also where nothing is to be drained
		return stepBeginDrain, time.Time{}
	case drains && f.now.Before(drainDeadline(f)):
		return stepDrain, earliest(f.now.Add(drainInterval), drainDeadline(f))
	case drains && !givenUp(f):
		return stepGiveUpDrain, time.Time{}
	case machine.Held:
		return stepLetGo, time.Time{}
	}
	if machine.SkipsDrain {
		return stepNone, time.Time{}
	}
	deadline := shutdownDeadline(f.sm, machine)
	if f.wanted.skipDrain || !f.now.Before(deadline) {
		return stepSkipDrain, time.Time{}
	}
	if drainTimeoutDiffers(f.sm, machine) {
		return stepSyncDrain, deadline
	}
	return stepNone, deadline
}

func nextUp(f *facts) step {
	seen := f.seen
	switch {
	case seen.machine.child != nil:
		return stepNone // it runs, is coming up, or is not ours
	case len(orphans(&observation{leftovers: seen.leftovers})) > 0, len(orphans(seen)) > 0 && len(outOfDate(f.sm, seen)) > 0:
		return stepCleanUp
	case seen.bootstrap.deleting() || seen.infrastructure.deleting() || len(seen.leftovers) > 0:
		return stepNone
	case len(seen.problems) > 0:
		return stepNone
	}
	return stepCreate
}

// oursToDrain reports whether the machine has a node that Cluster API would
// neither drain nor delete. A Machine that it holds for us stays ours while its
// cluster goes, and a drain that has begun is brought to its end.
func oursToDrain(f *facts, machine *capi.MachineState) bool {
	switch f.seen.drainer {
	case drainerUs:
		return machine.NodeName != ""
	case drainerClusterAPI:
		return machine.NodeName != "" && machine.Held && (f.sm.Status.DrainStartTime != nil || waitsForUs(machine))
	case drainerUnknown, drainerNobody:
	}
	return machine.NodeName != "" && machine.Held
}

// heldForAnother reports whether Cluster API holds a Machine for a ScheduledMachine
// of this name that was there before this one and went without letting it go.
func heldForAnother(f *facts) bool {
	p := f.seen.machine
	return p.foreign() && p.child.machine != nil && p.child.machine.Held
}

// waitsForUs reports whether Cluster API has come to the end of what it does with
// the node, and waits for whoever asked it to. It drains no more from then on,
// though a control plane should have come since.
func waitsForUs(machine *capi.MachineState) bool {
	return machine.DeletingReason == clusterv1.MachineDeletingWaitingForPreTerminateHookReason
}

// nextGone is for when there is no Machine of ours and none is wanted.
func nextGone(f *facts) step {
	switch {
	case len(orphans(f.seen)) > 0:
		return stepCleanUp
	case remains(f.seen):
		return stepNone
	case !f.sm.DeletionTimestamp.IsZero():
		return stepRelease
	}
	return stepNone
}

// nodeIsLeft reports whether the Node of a machine that we drained ourselves is
// still to be deleted.
func nodeIsLeft(f *facts) bool {
	if f.sm.Status.DrainStartTime == nil || f.sm.Status.NodeRef == nil || f.seen.machine.doubtful() {
		return false
	}
	// By its name alone, the Node could be that of a foreign Machine of our name.
	return f.seen.machine.child == nil || f.seen.machine.foreign() && f.sm.Status.NodeRef.UID != ""
}

// outOfDate names the fields of the spec that have changed since the objects
// were made from them. An object that does not say is taken as it is.
func outOfDate(sm *v1beta1.ScheduledMachine, seen *observation) []string {
	var fields []string
	for _, pair := range []struct {
		piece
		field string
		hash  func() (string, error)
	}{
		{seen.bootstrap, "spec.bootstrapSpec", func() (string, error) { return capi.SpecHash(&sm.Spec.BootstrapSpec) }},
		{seen.infrastructure, "spec.infrastructureSpec", func() (string, error) { return capi.SpecHash(&sm.Spec.InfrastructureSpec) }},
		{seen.machine, "spec.machineTemplate or spec.version", func() (string, error) { return capi.MachineHash(sm) }},
	} {
		if !pair.present() || pair.child.specHash == "" {
			continue
		}
		if hash, err := pair.hash(); err == nil && hash != pair.child.specHash {
			fields = append(fields, pair.field)
		}
	}
	return fields
}

// orphans returns the objects of ours, not yet being deleted, that no Machine
// of ours will take along.
func orphans(seen *observation) []piece {
	if seen.machine.present() || seen.machine.unreadable != nil {
		return nil
	}
	var found []piece
	for _, p := range append([]piece{seen.bootstrap, seen.infrastructure}, seen.leftovers...) {
		if p.present() && !p.deleting() {
			found = append(found, p)
		}
	}
	return found
}

// unreadable says why it cannot be told what exists; nil if it can.
func unreadable(seen *observation) error {
	for _, p := range seen.pieces() {
		if p.doubtful() {
			return p.unreadable
		}
	}
	return nil
}

// remains reports whether any object of ours still exists, or may.
func remains(seen *observation) bool {
	return slices.ContainsFunc(seen.pieces(), func(p piece) bool { return p.present() || p.doubtful() })
}

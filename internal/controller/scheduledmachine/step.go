// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// step is the one next thing to do towards what is wanted.
type step int

const (
	// stepNone: everything is as it should be, or something is on its way.
	stepNone step = iota
	// stepRecord: the verdict has to stand in the status before it is acted upon.
	stepRecord
	// stepCreate: create whichever of the three objects is missing.
	stepCreate
	// stepDelete: delete the Machine; Cluster API drains the node and deletes the rest.
	stepDelete
	// stepSkipDrain: tell Cluster API to stop waiting for the node's pods and volumes.
	stepSkipDrain
	// stepCleanUp: delete objects that have no Machine, which a crash can leave behind.
	stepCleanUp
	// stepRelease: let the ScheduledMachine itself go.
	stepRelease
)

// next returns the next step, and the instant at which to look again if
// nothing happens until then; zero when only an event can change anything.
func next(sm *v1beta1.ScheduledMachine, wanted want, seen *observation, now time.Time) (step, time.Time) {
	if wanted.up {
		return nextUp(sm, seen), time.Time{}
	}
	return nextDown(sm, wanted, seen, now)
}

func nextUp(sm *v1beta1.ScheduledMachine, seen *observation) step {
	switch {
	case seen.machine.child != nil:
		return stepNone // it runs, is coming up, is going and waited out, or is not ours
	case len(orphans(&observation{leftovers: seen.leftovers})) > 0, outdated(&sm.Spec, seen) && len(orphans(seen)) > 0:
		return stepCleanUp
	case seen.bootstrap.deleting() || seen.infrastructure.deleting():
		return stepNone
	case len(seen.problems) > 0:
		return stepNone
	}
	return stepCreate
}

func nextDown(sm *v1beta1.ScheduledMachine, wanted want, seen *observation, now time.Time) (step, time.Time) {
	machine := seen.machine.state()
	switch {
	case machine != nil && machine.DeletedAt.IsZero():
		return stepDelete, time.Time{}
	case machine != nil && machine.SkipsDrain:
		return stepNone, time.Time{}
	case machine != nil:
		deadline := shutdownDeadline(sm, machine)
		if wanted.skipDrain || !now.Before(deadline) {
			return stepSkipDrain, time.Time{}
		}
		return stepNone, deadline
	case len(orphans(seen)) > 0:
		return stepCleanUp, time.Time{}
	case remains(seen):
		return stepNone, time.Time{}
	case !sm.DeletionTimestamp.IsZero():
		return stepRelease, time.Time{}
	}
	return stepNone, time.Time{}
}

// outdated reports whether an object that waits for its Machine was made from a
// spec that has changed since. One that does not say is taken as it is.
func outdated(spec *v1beta1.ScheduledMachineSpec, seen *observation) bool {
	for _, pair := range []struct {
		piece
		spec *v1beta1.EmbeddedObject
	}{{seen.bootstrap, &spec.BootstrapSpec}, {seen.infrastructure, &spec.InfrastructureSpec}} {
		if !pair.present() || pair.child.specHash == "" {
			continue
		}
		if hash, err := capi.SpecHash(pair.spec); err == nil && hash != pair.child.specHash {
			return true
		}
	}
	return false
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

// remains reports whether any object of ours still exists, or may.
func remains(seen *observation) bool {
	for _, p := range []piece{seen.machine, seen.bootstrap, seen.infrastructure} {
		if p.present() || p.unreadable != nil {
			return true
		}
	}
	return len(seen.leftovers) > 0
}

// shutdownDeadline is when a shutdown has lasted as long as it may.
func shutdownDeadline(sm *v1beta1.ScheduledMachine, machine *capi.MachineState) time.Time {
	return machine.DeletedAt.Add(timeout(sm.Spec.GracefulShutdownTimeout))
}

// timeout returns a timeout of the spec; the schema has checked its form.
func timeout(text v1beta1.Timeout) time.Duration {
	duration, err := time.ParseDuration(string(text))
	if err != nil {
		return 5 * time.Minute // the schema's default
	}
	return duration
}

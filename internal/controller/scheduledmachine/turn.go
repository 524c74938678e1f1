// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// takeTurn has a machine that is to come up wait in line while too many others
// are coming up.
func (r *Reconciler) takeTurn(f *facts) {
	key := client.ObjectKeyFromObject(f.sm)
	switch {
	case f.did == stepCreate:
		if !r.gate.Ask(key, priorityOf(f.sm), wantedSince(f)) {
			f.did = stepQueue
		}
	case f.did == stepRecord && f.wanted.up && f.machine() == nil:
		// It takes its rank before any of those that the same bell starts is let in.
		r.gate.Ask(key, priorityOf(f.sm), wantedSince(f))
	case comingUp(f):
		r.gate.Holds(key)
		f.again = earliest(f.again, placeUntil(f))
	}
}

// makeRoom lets the next one in line start, once a machine is up, could not be
// made, or has been taken down: only then, so that there is never one too many.
func (r *Reconciler) makeRoom(f *facts) {
	waits := f.did == stepQueue || f.did == stepRecord && f.wanted.up && f.machine() == nil
	unseen := errors.Is(f.failure, errMachineExists) // it may be coming up
	if !waits && !f.created() && !unseen && !comingUp(f) {
		r.gate.Done(client.ObjectKeyFromObject(f.sm))
	}
}

// comingUp reports whether there is a Machine that has yet to run, and for which
// others have not waited for long enough.
func comingUp(f *facts) bool {
	machine := f.machine()
	return f.wanted.up && machine != nil && machine.DeletedAt.IsZero() && !machine.Running() &&
		!wasReady(f.sm, f.seen.machine) && !failed(f) && f.now.Before(placeUntil(f))
}

// placeUntil is until when a Machine that comes up keeps others waiting, be it
// that its own time has no bound.
func placeUntil(f *facts) time.Time {
	limit := timeoutOr(f.sm.Spec.ProvisioningTimeout, defaultProvisioningTimeout)
	if limit == 0 {
		limit = defaultProvisioningTimeout
	}
	return f.seen.machine.child.CreationTimestamp.Add(limit)
}

// wantedSince is since when the machine has been wanted, by which it is ranked
// among those that wait.
func wantedSince(f *facts) time.Time {
	switch {
	case f.record != nil && f.record.FollowedSince != nil:
		return f.record.FollowedSince.Time
	case f.record != nil && f.record.LastTransitionTime != nil:
		return f.record.LastTransitionTime.Time
	}
	return f.sm.CreationTimestamp.Time
}

// defaultPriority is the schema's default.
const defaultPriority = 50

func priorityOf(sm *v1beta1.ScheduledMachine) int {
	return int(ptr.Deref(sm.Spec.Priority, defaultPriority))
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// facts is everything that was seen, decided and done in one reconcile. A status
// is written from it.
type facts struct {
	sm     *v1beta1.ScheduledMachine
	seen   *observation
	now    time.Time
	limits limits

	// record is what the schedule says, and wanted what follows from it.
	record *outlook
	wanted want
	// fault is why the present Machine counts as failed; zero if it does not.
	fault machineFault
	// failures counts the Machines that failed; nil if none did.
	failures *v1beta1.MachineFailures
	// did is the step that is taken, and failure what came of it.
	did     step
	failure error
	// again is when to look again if nothing happens until then; zero when only an
	// event can change anything.
	again time.Time
	// drain is how far our own drain of the node is; nil when there is none.
	drain *drainProgress
	// nodeLeft is why the Node of a machine that is gone was left where it is; empty
	// if it was not.
	nodeLeft string
	// node is what was made of the node; zero when there is nothing to look after.
	node nodeCare
}

// limits are the bounds that the controller's flags set.
type limits struct {
	// finalizer is how long after the time given to a shutdown a deleted
	// ScheduledMachine is let go, whatever is left.
	finalizer time.Duration
}

// judge decides, by what was seen at one instant, what is wanted and the one
// next step towards it.
func judge(sm *v1beta1.ScheduledMachine, seen *observation, now time.Time, limits limits) facts {
	before := outlookOf(&sm.Status)
	f := facts{sm: sm, seen: seen, now: now, limits: limits, record: before}
	var recordAgain, faultAgain, failureAgain time.Time
	if seen.readingKnown {
		f.record, recordAgain = record(&sm.Spec, before, seen.reading, now)
	}
	f.wanted = decide(sm, f.record)
	f.fault, faultAgain = faultOf(sm, seen, now)
	f.failures, failureAgain = failures(&f, faultAgain)
	f.did, f.again = next(&f)
	if f.wanted.bySchedule && !recorded(before, f.record) || f.did == stepCreate && !planned(sm) {
		f.did = stepRecord
	}
	_, flappingUntil := flapping(&sm.Spec, f.record, now)
	for _, again := range []time.Time{recordAgain, failureAgain, flappingUntil, dueLater(overdueAt(seen), now)} {
		f.again = earliest(f.again, again)
	}
	return f
}

// planned reports whether the status names the objects that are to be created. So
// one that a crash leaves behind is found, though the spec has changed since.
func planned(sm *v1beta1.ScheduledMachine) bool {
	return refersTo(sm.Status.BootstrapRef, &sm.Spec.BootstrapSpec) && refersTo(sm.Status.InfrastructureRef, &sm.Spec.InfrastructureSpec)
}

func refersTo(ref *v1beta1.ObjectReference, object *v1beta1.EmbeddedObject) bool {
	return ref != nil && schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() ==
		schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).GroupKind()
}

// blind reports whether the schedule decides and is still being read: then the
// cache of the schedules wakes the reconcile.
func (f *facts) blind() bool { return f.wanted.bySchedule && !f.seen.readingKnown }

// machine returns the state of our Machine, as far as it was seen; nil if there is none.
func (f *facts) machine() *capi.MachineState { return f.seen.machine.state() }

// created reports whether this very reconcile created the Machine.
func (f *facts) created() bool { return f.did == stepCreate && f.failure == nil }

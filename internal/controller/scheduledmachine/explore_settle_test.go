// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// settle lets everything come to rest: caches catch up, Cluster API does its
// work, no write fails, and the clock goes from alarm to alarm.
func (w *world) settle() {
	w.settling = true
	quiet := 0
	for range 1000 {
		version := w.version
		w.deliver()
		wrote, err := w.reconcile(fault{})
		w.collect()
		w.cooperate()
		if quiet++; wrote > 0 || err != nil || w.version != version {
			quiet = 0
		}
		if quiet < 2 {
			continue
		}
		at, set := w.r.alarms.At(worldName)
		if !set {
			w.checkRest()
			return
		}
		w.checkWait()
		if at.After(w.clock.Now()) {
			w.clock.SetTime(at)
		}
	}
	w.fatalf("nothing comes to rest: %+v", w.stored())
}

// checkWait holds that a ScheduledMachine does not wait to be let go for what is
// gone, when nothing happens before an alarm.
func (w *world) checkWait() {
	sm := w.stored()
	if sm != nil && !sm.DeletionTimestamp.IsZero() && len(w.objects) == 0 && sm.Status.DrainStartTime == nil {
		w.fatalf("the ScheduledMachine stays and nothing is left of it: %s", sm.Status.Message)
	}
}

// checkRest looks at the world once nothing happens in it any more.
func (w *world) checkRest() {
	if waiting, running := w.r.gate.Counts(); waiting+running > 0 {
		w.fatalf("%d wait and %d are coming up, and nothing happens", waiting, running)
	}
	if sm := w.stored(); sm == nil {
		// Nobody is left to cut Cluster API's own drain short, where our finalizer was taken away.
		if machine := w.machine(); len(w.objects) > 0 && (machine == nil || !w.drainedByClusterAPI(machine)) {
			w.fatalf("the ScheduledMachine is gone and left %v", w.objects)
		}
	} else {
		w.checkPhase(sm)
		w.checkTaints(sm)
	}
	if w.owed != "" && w.far.node != nil && w.far.node.UID == w.owed && w.reachable() {
		w.fatalf("the Node of a machine that was drained is left")
	}
	w.clock.Step(48 * time.Hour)
	if wrote, err := w.reconcile(fault{}); wrote > 0 || err != nil {
		w.fatalf("something was to be done, and no alarm was set for it: %d writes, %v: %+v", wrote, err, w.stored())
	}
}

func (w *world) checkPhase(sm *v1beta1.ScheduledMachine) {
	up := followedOf(outlookOf(&sm.Status)) && ptr.Deref(sm.Spec.Enabled, true) && !sm.Spec.KillSwitch
	says := w.delivered.of(sm.Spec.Schedule.Name)
	machine := w.machine()
	switch {
	case !sm.DeletionTimestamp.IsZero():
		w.fatalf("the ScheduledMachine stays though it is deleted")
	case machine != nil && machine.GetDeletionTimestamp() != nil:
		w.fatalf("the Machine stays though it is deleted: %s", sm.Status.Message)
	case says.Resolved() && verdictOf(outlookOf(&sm.Status)) != (says.State == contract.Active):
		w.fatalf("the schedule says %v, the record %+v", says.State, sm.Status.SpotSchedule)
	case up && w.cluster.state == clusterThere && machine == nil,
		up && !w.cluster.leaves() && w.reachable() && sm.Status.Phase != v1beta1.PhaseActive:
		w.fatalf("the machine is wanted, and in phase %s: %s", sm.Status.Phase, sm.Status.Message)
	case !up && len(w.objects) > 0:
		w.fatalf("no machine is wanted, and there are %v", w.objects)
	case !up && !slices.Contains([]v1beta1.Phase{v1beta1.PhaseInactive, v1beta1.PhaseDisabled, v1beta1.PhaseTerminated}, sm.Status.Phase):
		w.fatalf("no machine is wanted, and the phase is %s: %s", sm.Status.Phase, sm.Status.Message)
	case sm.Status.ObservedGeneration != sm.Generation:
		w.fatalf("the status is of generation %d, the spec of %d", sm.Status.ObservedGeneration, sm.Generation)
	}
}

// checkTaints holds that the node has the taints of the spec and of others, and no more.
func (w *world) checkTaints(sm *v1beta1.ScheduledMachine) {
	machine := w.machine()
	if machine == nil || !w.far.isOf(machine) || !w.reachable() {
		return
	}
	want := maps.Clone(w.far.foreign)
	owned := 0
	for _, taint := range sm.Spec.NodeTaints {
		if _, taken := want[taint.Key]; !taken {
			want[taint.Key] = corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}
			owned++
		}
	}
	for _, taint := range want {
		if !hasTaint(w.far.node, taint) {
			w.fatalf("taint %v is not on the node: %v", taint, w.far.node.Spec.Taints)
		}
	}
	if len(w.far.node.Spec.Taints) > len(want) {
		w.fatalf("the node has taints %v, and should have %v", w.far.node.Spec.Taints, want)
	}
	if len(sm.Status.AppliedNodeTaints) != owned {
		w.fatalf("the status says that the taints %v are ours", sm.Status.AppliedNodeTaints)
	}
}

// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"cmp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestAMachineIsDrainedAndItsNodeDeleted(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t))
	pod := r.Pod(t, r.node, "work")

	r.Toggle(t, r.sm, false)
	r.awaitDrained(t, pod)
}

func TestAMachineThatCannotBeDrainedGoesWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bound := cmp.Or(fault.bound, short)
			r := newRack(t, hardware.NewCluster(t), within(bound))
			fault.strike(t, r.Cluster, r.node)

			r.Toggle(t, r.sm, false)
			r.awaitForced(t, bound, fault.cause)
			r.awaitInactive(t)
		})
	}
}

// Cluster API sees that such a kubelet will end no pod, and does not wait for it.
func TestAMachineWhoseKubeletIsDeadGoesByItself(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t))
	r.Pod(t, r.node, "work")
	r.Workload().StopKubelet(t, r.node.Name)

	r.Toggle(t, r.sm, false)
	r.awaitInactive(t)
	r.AwaitNodeGone(t, r.node)
	r.checkNotForced(t)
}

func TestAMachineWhoseNodeWasDeletedGoesByItself(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t))
	if err := r.Workload().Client().Delete(t.Context(), r.node); err != nil {
		t.Fatal(err)
	}
	r.AwaitNodeGone(t, r.node)

	r.Toggle(t, r.sm, false)
	r.awaitInactive(t)
	r.checkNotForced(t)
}

func TestAMachineWhoseNodeNeverJoinedGoesByItself(t *testing.T) {
	t.Parallel()
	c := hardware.NewCluster(t)
	sm := c.Machine(t, "rack", hardware.NeverJoins)
	history := hardware.Follow(t, c, sm)
	history.Await(t, "waited for its node", func(sm *v1beta1.ScheduledMachine) bool {
		return sm.Status.Phase == v1beta1.PhasePending && containsAll(machineReady(sm).Message, []string{"its node to join the cluster"})
	})

	c.Toggle(t, sm, false)
	history.Await(t, "became Inactive", isIn(v1beta1.PhaseInactive))
	if forced, found := history.Find(drainFailed); found {
		t.Errorf("the drain was cut short: %s", machineReady(forced).Message)
	}
}

func TestADrainThatHasATimeOfItsOwnIsToldOfWhenThatIsOver(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t), func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "10s" })
	r.Budget(t, r.Pod(t, r.node, "work"), "always-one")
	cause := []string{"work", "budget always-one"}

	r.Toggle(t, r.sm, false)
	forced := r.history.Await(t, "told of the drain that failed", drainFailed)
	if said := machineReady(forced).Message; !containsAll(said, cause) {
		t.Errorf("condition MachineReady does not say %q:\n%s", cause, said)
	}
	r.AwaitEvent(t, r.sm, corev1.EventTypeWarning, v1beta1.ReasonNodeDrainFailed, cause...)
	r.awaitInactive(t)
}

func TestTheKillSwitchWaitsForNothing(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t)) // with five minutes to shut down in
	r.Budget(t, r.Pod(t, r.node, "work"), "always-one")

	hardware.Patch(t, r.Client(), r.sm, `{"spec":{"killSwitch":true}}`)
	r.history.Await(t, "was Terminated", isIn(v1beta1.PhaseTerminated))
	r.AwaitNodeGone(t, r.node)
	first := r.machine.Await(t, "was deleted", deleting)
	for annotation := range capi.SkipDrainAnnotations() {
		if _, found := first.Annotations[annotation]; !found {
			t.Errorf("the Machine was deleted without the annotation %s, so Cluster API began to drain", annotation)
		}
	}
	r.checkNotForced(t) // it was asked for, not cut short
}

func TestAMachineThatCannotBeDrainedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	c := hardware.NewCluster(t)
	stuck := newNamedRack(t, c, "stuck")
	other := newNamedRack(t, c, "other")
	c.Budget(t, c.Pod(t, stuck.node, "work"), "always-one")

	c.Toggle(t, stuck.sm, false)
	stuck.history.Await(t, "was being drained", func(sm *v1beta1.ScheduledMachine) bool {
		return machineReady(sm).Reason == v1beta1.ReasonNodeDraining
	})
	c.Toggle(t, other.sm, false)
	other.awaitInactive(t)
	if machine := c.CAPIMachine(t, stuck.sm); machine.DeletionTimestamp == nil {
		t.Error("the Machine that cannot be drained is not even being deleted")
	}
}

func TestHardwareThatCannotBeSwitchedOffIsNamedUntilItIs(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t), within(short), hardware.NeverSwitchesOff)

	r.Toggle(t, r.sm, false)
	r.history.Await(t, "named the hardware that it waits for", func(sm *v1beta1.ScheduledMachine) bool {
		return sm.Status.Phase == v1beta1.PhaseShuttingDown && containsAll(machineReady(sm).Message, []string{"RackMachine"})
	})
	r.SwitchOff(t, r.sm)
	r.awaitInactive(t)
	r.AwaitNodeGone(t, r.node)
}

func TestAScheduledMachineThatIsDeletedGoesWithinItsBound(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bound := cmp.Or(fault.bound, short)
			r := newRack(t, hardware.NewCluster(t), within(bound))
			fault.strike(t, r.Cluster, r.node)

			r.delete(t, r.sm)
			r.awaitForced(t, bound, fault.cause)
			r.history.AwaitGone(t)
			r.machine.AwaitGone(t)
		})
	}
}

// Cluster API takes the machines of a Cluster that is being deleted down
// without a drain.
func TestANamespaceThatIsDeletedGoesWithinItsBound(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRack(t, hardware.NewCluster(t), within(short))
			fault.strike(t, r.Cluster, r.node)

			namespace := &corev1.Namespace{}
			namespace.Name = r.Namespace
			r.delete(t, namespace)
			r.history.AwaitGone(t)
			r.AwaitGone(t, namespace)
		})
	}
}

// finalizerTimeout is the controller's own, see TestMain.
const finalizerTimeout = 20 * time.Second

func TestAScheduledMachineWhoseHardwareNeverGoesIsLetGoInTheEnd(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t), within(short), hardware.NeverSwitchesOff)

	r.delete(t, r.sm)
	deleted := r.history.Await(t, "was deleted", func(sm *v1beta1.ScheduledMachine) bool { return sm.DeletionTimestamp != nil })
	r.history.AwaitGone(t)
	event := r.AwaitEvent(t, r.sm, corev1.EventTypeWarning, v1beta1.ReasonFinalizerCleanupTimedOut, "RackMachine")
	after := event.EventTime.Sub(deleted.DeletionTimestamp.Time)
	if bound := short + finalizerTimeout; after < bound || after > bound+lateness {
		t.Errorf("it was let go %s after its deletion, want %s to %s", after, bound, bound+lateness)
	}
	r.RackMachine(t, r.sm) // it is still there, for somebody to look at
}

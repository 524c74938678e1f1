// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/test/hardware"
)

// Cluster API neither drains nor deletes the Nodes of a Cluster of which it
// knows no control plane; there 5-Spot does. It does not watch them either, nor
// say that they are ready, if it never knew one.

func TestAMachineOfAClusterWithoutAControlPlaneComesUpAndGoesDown(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.WithoutControlPlane))

	r.Toggle(t, r.sm, false)
	r.awaitInactive(t)
	r.AwaitNodeGone(t, r.node)
}

func TestAMachineThatClusterAPIWouldNotDrainIsDrained(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane))
	pod := r.Pod(t, r.node, "work")

	r.Toggle(t, r.sm, false)
	r.awaitDrained(t, pod)
	if _, found := r.history.Find(drainedByUs); !found {
		t.Error("the status never said that 5-Spot drains the node itself")
	}
}

func TestAMachineThatClusterAPIWouldNotDrainGoesWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a budget that never lets go",
		"a kubelet that does nothing any more",
		"a pod with a finalizer that nobody removes",
		"an API server that swallows every request",
		"an API server that refuses connections",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane), within(short))
			faults[name].strike(t, r.Cluster, r.node)

			r.Toggle(t, r.sm, false)
			r.history.Await(t, "was drained", drainedByUs)
			r.awaitForced(t, short, causesByUs[name])
			r.awaitInactive(t)
		})
	}
}

// causesByUs are the words of our own drain.
var causesByUs = map[string][]string{
	"a budget that never lets go":                {"/work", "budget always-one"},
	"a kubelet that does nothing any more":       {"/work", "to end"},
	"a pod with a finalizer that nobody removes": {"/work", "to end"},
	"an API server that swallows every request":  {"workload cluster", "The API server https://"},
	"an API server that refuses connections":     {"refuses connections"},
}

func TestTheKillSwitchDeletesTheNodeThatClusterAPIWouldLeave(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane))
	pod := r.Pod(t, r.node, "work")
	r.Budget(t, pod, "always-one")

	hardware.Patch(t, r.Client(), r.sm, `{"spec":{"killSwitch":true}}`)
	r.history.Await(t, "was Terminated", isIn(v1beta1.PhaseTerminated))
	r.AwaitNodeGone(t, r.node)
	if !r.PodExists(t, pod) {
		t.Error("the pod was evicted, which the kill switch does not wait for")
	}
}

func TestAScheduledMachineThatClusterAPIWouldNotDrainIsDeletedWithItsNode(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane), within(short))
	r.Budget(t, r.Pod(t, r.node, "work"), "always-one")

	r.delete(t, r.sm)
	r.history.Await(t, "was drained", drainedByUs)
	r.awaitForced(t, short, causesByUs["a budget that never lets go"])
	r.history.AwaitGone(t)
	r.machine.AwaitGone(t)
	r.AwaitNodeGone(t, r.node)
}

func TestAMachineThatClusterAPIWouldNotDrainIsDrainedWhoeverDeletesIt(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane))
	pod := r.Pod(t, r.node, "work")
	r.awaitHeld(t)

	r.delete(t, r.CAPIMachine(t, r.sm))
	r.history.Await(t, "was drained", drainedByUs)
	r.machine.AwaitGone(t)
	r.AwaitNodeGone(t, r.node)
	if r.PodExists(t, pod) {
		t.Error("the pod is still there, though its node was drained")
	}
	r.checkNotForced(t)
}

// Kubernetes deletes all that belongs to the ScheduledMachine at once then, and
// with the infrastructure object goes the hardware.
func TestADeletionOfDependentsFirstWaitsForNoDrain(t *testing.T) {
	t.Parallel()
	r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane)) // with five minutes to shut down in
	r.Budget(t, r.Pod(t, r.node, "work"), "always-one")
	r.awaitHeld(t)

	r.delete(t, r.sm, client.PropagationPolicy(metav1.DeletePropagationForeground))
	r.history.AwaitGone(t)
	r.machine.AwaitGone(t)
	r.AwaitNodeGone(t, r.node)
}

// With its namespace go the hardware, the Cluster and the Secret that leads to it.
func TestANamespaceThatClusterAPIWouldNotDrainGoesWithinItsBound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a budget that never lets go", "an API server that swallows every request"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRack(t, hardware.NewCluster(t, hardware.LostControlPlane), within(short))
			faults[name].strike(t, r.Cluster, r.node)
			r.awaitHeld(t)

			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace}}
			r.delete(t, namespace)
			r.history.Await(t, "was drained as far as could be", drainedByUs)
			r.history.AwaitGone(t)
			r.AwaitGone(t, namespace)
		})
	}
}

// awaitHeld waits until Cluster API is told to wait for 5-Spot when the Machine is deleted.
func (r *rack) awaitHeld(t *testing.T) {
	t.Helper()
	r.machine.Await(t, "was held", func(machine *clusterv1.Machine) bool {
		_, held := machine.Annotations[capi.HoldAnnotation]
		return held
	})
}

func drainedByUs(sm *v1beta1.ScheduledMachine) bool { return sm.Status.DrainStartTime != nil }

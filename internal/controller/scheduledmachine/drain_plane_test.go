// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// trapped makes a machine that runs in a cluster without any control plane that
// Cluster API knows of, with a pod on its node. The management cluster stands
// for the workload cluster.
func (d *desk) trapped(name string) (*v1beta1.ScheduledMachine, *corev1.Node, *corev1.Pod) {
	d.Helper()
	controlPlane := d.object(machineKind, "trading-control-plane")
	if err := d.client.Delete(d.Context(), controlPlane); err != nil {
		d.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "quotes"},
		Spec: corev1.PodSpec{
			NodeName: node.Name, Containers: []corev1.Container{{Name: "quotes", Image: "quotes"}},
			TerminationGracePeriodSeconds: new(int64(600)),
		},
	}
	for _, object := range []client.Object{node, pod} {
		if err := d.client.Create(d.Context(), object); err != nil {
			d.Fatal(err)
		}
	}
	d.Cleanup(func() { _ = d.client.Delete(devplanetest.Context(d.T), node) })
	sm, _ := d.up(name)
	return sm, node, pod
}

func TestANodeThatClusterAPIWouldNotDrainIsDrained(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, node, pod := d.trapped("trapped")
	machine := d.awaitObject(machineKind, "trapped")

	d.schedule(false)
	devplanetest.Await(t, pod, func() error {
		if pod.DeletionTimestamp == nil {
			return fmt.Errorf("the pod was not asked to go: %s", sm.Status.Message)
		}
		return nil
	})
	d.awaitReason(sm, v1beta1.ConditionMachineReady, v1beta1.ReasonNodeDraining)
	d.await(sm, func() error {
		if !strings.Contains(sm.Status.Message, d.namespace+"/quotes") {
			return fmt.Errorf("the message does not name the pod: %s", sm.Status.Message)
		}
		return nil
	})
	if sm.Status.Phase != v1beta1.PhaseShuttingDown || sm.Status.DrainStartTime == nil {
		t.Errorf("phase %s, drainStartTime %v", sm.Status.Phase, sm.Status.DrainStartTime)
	}
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil || !node.Spec.Unschedulable {
		t.Errorf("the node is not cordoned: %v", err)
	}
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil || machine.GetDeletionTimestamp() != nil {
		t.Fatalf("the Machine did not wait for the drain: %v", err)
	}

	if err := d.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, pod)
	d.clock.Step(5 * time.Second)
	d.awaitGone(machineKind, "trapped")
	devplanetest.AwaitGone(t, node)
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	if sm.Status.NodeRef != nil || sm.Status.DrainStartTime != nil {
		t.Errorf("afterwards nodeRef is %v and drainStartTime %v", sm.Status.NodeRef, sm.Status.DrainStartTime)
	}
	d.awaitEvent("trapped", v1beta1.ReasonNodeDrained)
}

func TestADrainOfOurOwnIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, node, pod := d.trapped("bounded")
	d.patch(sm, "", `{"spec":{"nodeDrainTimeout":"1m"}}`)
	d.schedule(false)
	devplanetest.Await(t, pod, func() error {
		if pod.DeletionTimestamp == nil {
			return errWaiting
		}
		return nil
	})
	d.awaitReason(sm, v1beta1.ConditionMachineReady, v1beta1.ReasonNodeDraining)
	d.clock.SetTime(sm.Status.DrainStartTime.Add(time.Minute))
	d.awaitGone(machineKind, "bounded")
	devplanetest.AwaitGone(t, node)
	d.awaitEvent("bounded", v1beta1.ReasonNodeDrainFailed)
	d.awaitPhase(sm, v1beta1.PhaseInactive)
}

func TestAKillSwitchDrainsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, node, pod := d.trapped("killed")
	d.patch(sm, "", `{"spec":{"killSwitch":true}}`)
	d.awaitGone(machineKind, "killed")
	devplanetest.AwaitGone(t, node) // which Cluster API would leave
	d.awaitPhase(sm, v1beta1.PhaseTerminated)
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("the pod was asked to go: %v", err)
	}
}

func TestAMachineThatFailedIsDrainedBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, node, pod := d.trapped("failed")
	machine := d.awaitObject(machineKind, "failed")
	d.patch(machine, "status", `{"status":{"phase":"Failed","deprecated":{"v1beta1":{"failureReason":"UpdateError","failureMessage":"the rack caught fire"}}}}`)
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineFailed)
	d.clock.SetTime(sm.Status.MachineFailures.ReplaceTime.Time)
	devplanetest.Await(t, pod, func() error {
		if pod.DeletionTimestamp == nil {
			return errWaiting
		}
		return nil
	})
	if err := d.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, pod)
	d.clock.Step(5 * time.Second)
	devplanetest.AwaitGone(t, node)
	next := d.object(machineKind, "failed")
	devplanetest.Await(t, next, func() error {
		if next.GetUID() == machine.GetUID() {
			return errWaiting
		}
		return nil
	})
	d.awaitEvent("failed", v1beta1.ReasonMachineReplaced)
}

// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestAMachineOutlivesAnUpgradeOfClusterAPIFromV1Beta1ToV1Beta2(t *testing.T) {
	old := v1beta1Only.install(t)
	c := hardware.NewCluster(t, hardware.AtV1Beta1)
	sm := c.Machine(t, "rack")
	node := c.AwaitNode(t, sm)
	checkVersion(t, sm, "v1beta1")
	node = goesDownAndComesUp(t, c, sm, node)
	checkVersion(t, sm, "v1beta1")

	pod := c.Pod(t, node, "work-during-the-upgrade")
	history := hardware.Follow(t, c, sm)
	rack := c.RackMachine(t, sm)
	racks := hardware.Follow(t, c, rack)
	if err := old.Stop(); err != nil {
		t.Fatal(err)
	}
	today.install(t)
	history.Await(t, "followed its Machine to v1beta2", func(sm *v1beta1.ScheduledMachine) bool {
		return sm.Status.MachineRef != nil && sm.Status.MachineRef.APIVersion == "cluster.x-k8s.io/v1beta2"
	})
	if was, found := history.Find(func(sm *v1beta1.ScheduledMachine) bool { return sm.Status.Phase != v1beta1.PhaseActive }); found {
		t.Errorf("the machine was %s during the upgrade: %s", was.Status.Phase, was.Status.Message)
	}
	if touched, found := racks.Find(func(o client.Object) bool {
		return o.GetUID() != rack.GetUID() || o.GetDeletionTimestamp() != nil
	}); found {
		t.Errorf("the hardware was deleted or replaced: UID %s, was %s", touched.GetUID(), rack.GetUID())
	}
	if !c.PodExists(t, pod) {
		t.Error("the pod on the machine is gone")
	}

	goesDownAndComesUp(t, c, sm, node)
	checkVersion(t, sm, "v1beta2")
}

// goesDownAndComesUp checks that the machine waits for a budget, and says so,
// goes once that lets go, and comes up anew. It returns the new node.
func goesDownAndComesUp(t *testing.T, c *hardware.Cluster, sm *v1beta1.ScheduledMachine, node *corev1.Node) *corev1.Node {
	t.Helper()
	pod := c.Pod(t, node, "work-on-"+node.Name)
	budget := c.Budget(t, pod, "always-one-of-"+node.Name)
	c.Toggle(t, sm, false)
	c.Await(t, sm, func() error {
		ready := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionMachineReady)
		if ready == nil || ready.Reason != v1beta1.ReasonNodeDraining || !strings.Contains(ready.Message, "budget "+budget.Name) {
			return fmt.Errorf("condition MachineReady does not name the budget: %v", ready)
		}
		return nil
	})
	if err := c.Workload().Client().Delete(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	c.AwaitPhase(t, sm, v1beta1.PhaseInactive)
	c.AwaitNodeGone(t, node)
	if c.PodExists(t, pod) {
		t.Error("the pod is still there, though its node was drained")
	}
	c.Toggle(t, sm, true)
	next := c.AwaitNode(t, sm)
	if next.Name == node.Name {
		t.Errorf("the machine came up with the node %s of the earlier one", next.Name)
	}
	return next
}

func checkVersion(t *testing.T, sm *v1beta1.ScheduledMachine, version string) {
	t.Helper()
	if got := sm.Status.MachineRef.APIVersion; got != "cluster.x-k8s.io/"+version {
		t.Errorf("status.machineRef is of %s, want of %s", got, version)
	}
}

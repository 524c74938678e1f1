// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestAMachineOutlivesAnUpgradeOfClusterAPIFromV1Beta1ToV1Beta2(t *testing.T) {
	old := v1beta1Only.install(t)
	c := hardware.NewCluster(t, hardware.AtV1Beta1)
	sm := c.Machine(t, "rack")
	node := c.AwaitNode(t, sm)
	if version := sm.Status.MachineRef.APIVersion; version != "cluster.x-k8s.io/v1beta1" {
		t.Fatalf("the Machine is of %s, want of v1beta1 before the upgrade", version)
	}
	pod := c.Pod(t, node, "work")
	history := hardware.Follow(t, c, sm)
	rack := hardware.RackMachine()
	rack.SetNamespace(sm.Namespace)
	rack.SetName(sm.Name)
	if err := c.Client().Get(t.Context(), client.ObjectKeyFromObject(rack), rack); err != nil {
		t.Fatal(err)
	}
	hardwareHistory := hardware.Follow(t, c, rack)

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
	if touched, found := hardwareHistory.Find(func(o client.Object) bool {
		return o.GetUID() != rack.GetUID() || o.GetDeletionTimestamp() != nil
	}); found {
		t.Errorf("the hardware was deleted or replaced: UID %s, was %s", touched.GetUID(), rack.GetUID())
	}
	if !c.PodExists(t, pod) {
		t.Error("the pod on the machine is gone")
	}

	c.Toggle(t, sm, false)
	c.AwaitPhase(t, sm, v1beta1.PhaseInactive)
	c.AwaitNodeGone(t, node)
	if c.PodExists(t, pod) {
		t.Error("the pod is still there, though its node was drained")
	}
	c.Toggle(t, sm, true)
	if second := c.AwaitNode(t, sm); second.Name == node.Name {
		t.Errorf("the machine came up with the node %s of the earlier one", second.Name)
	}
}

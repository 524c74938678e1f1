// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"testing"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestAMachineIsDrainedAndItsNodeDeleted(t *testing.T) {
	t.Parallel()
	cluster := hardware.NewCluster(t)
	sm := cluster.Machine(t, "rack")
	node := cluster.AwaitNode(t, sm)
	pod := cluster.Pod(t, node, "work")

	cluster.Toggle(t, sm, false)
	cluster.AwaitPhase(t, sm, v1beta1.PhaseInactive)
	cluster.AwaitNodeGone(t, node)
	if cluster.PodExists(t, pod) {
		t.Error("the pod is still there, though its node was drained")
	}
}

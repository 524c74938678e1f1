// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/workload"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestAWorkloadClusterThatGoesAwayHarmsNoOther(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*testing.T, *hardware.Wire){
		"refusing connections": func(t *testing.T, wire *hardware.Wire) {
			t.Helper()
			if err := wire.Refuse(); err != nil {
				t.Fatal(err)
			}
		},
		"swallowing every request": func(_ *testing.T, wire *hardware.Wire) { wire.BlackHole() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := newTainted(t, hardware.NewCluster(t, hardware.On(0)), desk)
			well := newTainted(t, hardware.NewCluster(t, hardware.On(1)), desk)
			lost.awaitTaints(t, "example.com/desk=trading:NoSchedule")
			well.awaitTaints(t, "example.com/desk=trading:NoSchedule")

			cut(t, lost.Wire)
			lost.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionFalse, workload.ReasonUnreachable)
			spare := v1beta1.NodeTaint{Key: "example.com/spare", Effect: noSchedule}
			lost.want(t, desk, spare)
			well.want(t, desk, spare)
			well.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/spare:NoSchedule")
			well.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionTrue, v1beta1.ReasonReachable)
			well.Toggle(t, well.sm, false)
			well.AwaitPhase(t, well.sm, v1beta1.PhaseInactive)
			well.Toggle(t, well.sm, true)
			well.node = well.AwaitNode(t, well.sm)
			well.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/spare:NoSchedule")

			if err := lost.Wire.Mend(); err != nil {
				t.Fatal(err)
			}
			lost.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionTrue, v1beta1.ReasonReachable)
			lost.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/spare:NoSchedule")
		})
	}
}

func TestAKubeconfigThatIsNamedFailsClosedUntilItIsThere(t *testing.T) {
	t.Parallel()
	c := hardware.NewCluster(t)
	sm := c.Machine(t, "rack", func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.NodeTaints = []v1beta1.NodeTaint{desk}
		sm.Spec.KubeconfigSecretRef = &v1beta1.KubeconfigSecretReference{Name: "of-the-desk", Key: "kubeconfig"}
	})
	m := &tainted{Cluster: c, sm: sm, node: c.AwaitNode(t, sm)}
	m.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionFalse, workload.ReasonKubeconfigNotFound, "of-the-desk")
	m.awaitTaints(t)

	secret := c.KubeconfigSecret(t)
	secret.Name = "of-the-desk"
	secret.Data = map[string][]byte{"kubeconfig": secret.Data["value"]}
	if err := c.Client().Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule")
	m.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionTrue, v1beta1.ReasonReachable)
}

// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestTaintsAreOnTheNodeAndToldOf(t *testing.T) {
	t.Parallel()
	borrowed := v1beta1.NodeTaint{Key: "example.com/borrowed", Effect: noExecute}
	m := newTainted(t, hardware.NewCluster(t), desk, borrowed)

	m.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/borrowed:NoExecute")
	m.awaitCondition(t, v1beta1.ConditionNodeTainted, metav1.ConditionTrue, v1beta1.ReasonApplied, m.node.Name)
	m.awaitCondition(t, v1beta1.ConditionChildClusterReachable, metav1.ConditionTrue, v1beta1.ReasonReachable)
	applied := []v1beta1.NodeTaint{borrowed, desk} // by key
	if diff := cmp.Diff(applied, m.sm.Status.AppliedNodeTaints); diff != "" {
		t.Errorf("status.appliedNodeTaints (-want +got):\n%s", diff)
	}
	const recorded = `[{"key":"example.com/borrowed","effect":"NoExecute"},{"key":"example.com/desk","effect":"NoSchedule"}]`
	if got := m.node.Annotations[v1beta1.AnnotationAppliedTaints]; got != recorded {
		t.Errorf("the Node's annotation is %s, want %s", got, recorded)
	}
}

func TestATaintOfSomebodyElseIsReportedAndLeftAlone(t *testing.T) {
	t.Parallel()
	m := newTainted(t, hardware.NewCluster(t))
	m.others(t, corev1.Taint{Key: desk.Key, Value: "theirs", Effect: noSchedule})

	m.want(t, desk)
	m.awaitCondition(t, v1beta1.ConditionNodeTainted, metav1.ConditionFalse, v1beta1.ReasonTaintOwnershipConflict, desk.Key, `"theirs"`, "somebody")
	m.awaitTaints(t, "example.com/desk=theirs:NoSchedule")

	m.others(t) // they take it off
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule")
	m.awaitCondition(t, v1beta1.ConditionNodeTainted, metav1.ConditionTrue, v1beta1.ReasonApplied)
}

func TestATaintThatSomebodyTakesOffComesBackBesideTheirs(t *testing.T) {
	t.Parallel()
	m := newTainted(t, hardware.NewCluster(t), desk)
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule")

	m.others(t, corev1.Taint{Key: "example.com/theirs", Effect: noExecute})
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/theirs:NoExecute")
}

func TestATaintThatIsNoLongerWantedGoesAndTheOthersStay(t *testing.T) {
	t.Parallel()
	spare := v1beta1.NodeTaint{Key: "example.com/spare", Effect: noSchedule}
	m := newTainted(t, hardware.NewCluster(t), desk, spare)
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule", "example.com/spare:NoSchedule")

	m.want(t, spare)
	m.awaitTaints(t, "example.com/spare:NoSchedule")
	m.want(t)
	m.awaitTaints(t)
	if recorded, found := m.node.Annotations[v1beta1.AnnotationAppliedTaints]; found {
		t.Errorf("the Node still has the annotation that says what is ours: %s", recorded)
	}
}

func TestAMachineThatComesBackIsTaintedAgain(t *testing.T) {
	t.Parallel()
	m := newTainted(t, hardware.NewCluster(t), desk)
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule")

	m.Toggle(t, m.sm, false)
	m.AwaitPhase(t, m.sm, v1beta1.PhaseInactive)
	m.Toggle(t, m.sm, true)
	m.node = m.AwaitNode(t, m.sm)
	m.awaitTaints(t, "example.com/desk=trading:NoSchedule")
}

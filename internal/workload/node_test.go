// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/internal/workload"
)

func TestWhatIsStrippedOfANodeIsNotMissed(t *testing.T) {
	t.Parallel()
	const filler = "filler"
	large := strings.Repeat(filler, 1000)
	added := metav1.NewTime(time.Date(2026, 6, 15, 9, 30, 0, 0, time.UTC))
	for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown, ""} {
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: "rack", UID: "1", ResourceVersion: "7", Labels: map[string]string{"a": large},
				Annotations: map[string]string{"5spot.finos.org/applied-taints": "[]", "example.com/other": large},
				ManagedFields: []metav1.ManagedFieldsEntry{
					{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + large + `":{}}}}`)},
					{Manager: "kubectl-taint", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`)},
				},
			},
			Spec: corev1.NodeSpec{
				ProviderID: "hw://1", Unschedulable: true, PodCIDR: large,
				Taints: []corev1.Taint{{Key: "example.com/desk", Value: "a", Effect: "NoExecute", TimeAdded: &added}},
			},
			Status: corev1.NodeStatus{
				Conditions: []corev1.NodeCondition{{Type: "DiskPressure", Status: "True", Message: large}},
				Images:     []corev1.ContainerImage{{Names: []string{large}}},
			},
		}
		if status != "" {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Message: large})
		}
		before := workload.NodeOf(node)
		workload.ReduceNode(node)
		if diff := cmp.Diff(before, workload.NodeOf(node)); diff != "" {
			t.Errorf("a Node whose readiness is %q (-whole +stripped):\n%s", status, diff)
		}
		if strings.Contains(node.String(), filler) {
			t.Errorf("there is more left of it than is needed: %s", node)
		}
	}
}

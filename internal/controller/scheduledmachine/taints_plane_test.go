// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// The controller can end after it has written to a Node and before it has written
// that to the status, and the spec can change before it is back.
func TestATaintThatNeverCameIntoTheStatusIsTakenOffOnceItIsNotWanted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-tainted"}}
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
	if err := d.client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	d.afterwards(func(ctx context.Context) { _ = d.client.Delete(ctx, node) })
	node.Status.Conditions = []corev1.NodeCondition{ready}
	if err := d.client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	sm, _ := d.up("tainted", func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.NodeTaints = []v1beta1.NodeTaint{{Key: "example.com/desk", Effect: "NoSchedule"}}
	})
	awaitTaints := func(number int) {
		t.Helper()
		devplanetest.Await(t, node, func() error {
			if len(node.Spec.Taints) != number {
				return fmt.Errorf("taints %v", node.Spec.Taints)
			}
			return nil
		})
	}
	awaitTaints(1)
	d.awaitReason(sm, v1beta1.ConditionNodeTainted, v1beta1.ReasonApplied)

	d.stop()
	d.patch(sm, "status", `{"status":{"appliedNodeTaints":null}}`)
	d.patch(sm, "", `{"spec":{"nodeTaints":null}}`)
	d.start()
	awaitTaints(0)
	d.await(sm, func() error {
		if found := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionNodeTainted); found != nil {
			return fmt.Errorf("it still says %+v", found)
		}
		return nil
	})
	if annotations := node.Annotations; len(annotations) > 0 {
		t.Errorf("the Node keeps %v", annotations)
	}
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// drainProgress is how far our own drain of a node is.
type drainProgress struct {
	done    bool
	message string
}

// waitingFor says what keeps the drain from being done.
func (d *drainProgress) waitingFor() string {
	if d == nil || d.message == "" {
		return "its node to be drained"
	}
	return d.message
}

// nodeCare is what was made of the machine's node in its workload cluster.
type nodeCare struct {
	reachable, tainted metav1.Condition
}

func (n *nodeCare) reachableCondition() metav1.Condition {
	if n == nil {
		return metav1.Condition{}
	}
	return n.reachable
}

func (n *nodeCare) taintedCondition() metav1.Condition {
	if n == nil {
		return metav1.Condition{}
	}
	return n.tainted
}

func (r *Reconciler) tendNode(_ context.Context, _ *facts) {}

func (r *Reconciler) queue(_ *facts) {}

func (r *Reconciler) drainAndDelete(ctx context.Context, f *facts) error {
	return r.deleteMachine(ctx, f)
}

func (r *Reconciler) forgetNode(_ context.Context, _ *facts) error { return nil }

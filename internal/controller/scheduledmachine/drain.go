// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import "context"

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

func (r *Reconciler) drainAndDelete(ctx context.Context, f *facts) error {
	return r.deleteMachine(ctx, f)
}

func (r *Reconciler) forgetNode(_ context.Context, _ *facts) error { return nil }

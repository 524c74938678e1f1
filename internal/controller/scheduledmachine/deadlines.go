// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

const (
	// defaultShutdownTimeout and defaultProvisioningTimeout are the schema's defaults.
	defaultShutdownTimeout     = 5 * time.Minute
	defaultProvisioningTimeout = 30 * time.Minute
	// DefaultFinalizerTimeout is how long after the time given to a shutdown a
	// deleted ScheduledMachine is let go, unless the options say otherwise.
	DefaultFinalizerTimeout = 10 * time.Minute
	// drainInterval is how often an eviction that was refused is asked for again.
	drainInterval = 5 * time.Second
	// nodeDeletionPatience is how long after the time given to a shutdown it is still
	// tried to delete the Node that it left: as long as Cluster API's own default.
	nodeDeletionPatience = 10 * time.Second
)

// shutdownDeadline is when a shutdown has lasted as long as it may.
func shutdownDeadline(sm *v1beta1.ScheduledMachine, machine *capi.MachineState) time.Time {
	return machine.DeletedAt.Add(shutdownTimeout(sm))
}

// drainUntil is when the drain of the node of a Machine that is being deleted is cut
// short, whoever's drain it is.
func drainUntil(f *facts, machine *capi.MachineState) time.Time {
	switch {
	case draining(f):
		return drainDeadline(f)
	case machine.DeletingReason == clusterv1.MachineDeletingDrainingNodeReason,
		machine.DeletingReason == clusterv1.MachineDeletingInternalErrorReason:
		return earliest(shutdownDeadline(f.sm, machine), machine.DrainDeadline())
	}
	return shutdownDeadline(f.sm, machine)
}

// drainDeadline is when a drain of our own, of a Machine that is being deleted,
// has lasted as long as it may. One that has not begun begins now.
func drainDeadline(f *facts) time.Time {
	began := f.now
	if f.sm.Status.DrainStartTime != nil {
		began = f.sm.Status.DrainStartTime.Time
	}
	deadline := shutdownDeadline(f.sm, f.machine())
	if drain := drainTimeout(f.sm); drain > 0 {
		deadline = earliest(deadline, began.Add(drain))
	}
	return deadline
}

// nodeDeadline is from when on a Node that a machine left stays, unless it can be
// deleted at once: the hardware may take longer to go than the whole shutdown.
func nodeDeadline(sm *v1beta1.ScheduledMachine) time.Time {
	return sm.Status.DrainStartTime.Add(shutdownTimeout(sm) + nodeDeletionPatience)
}

// finalizerDeadline is when a ScheduledMachine that is being deleted is let go,
// whatever is left.
func finalizerDeadline(f *facts) time.Time {
	return f.sm.DeletionTimestamp.Add(shutdownTimeout(f.sm) + f.limits.finalizer)
}

func shutdownTimeout(sm *v1beta1.ScheduledMachine) time.Duration {
	return timeoutOr(sm.Spec.GracefulShutdownTimeout, defaultShutdownTimeout)
}

// drainTimeout bounds the drain of the node; zero sets no bound.
func drainTimeout(sm *v1beta1.ScheduledMachine) time.Duration {
	return timeoutOr(sm.Spec.NodeDrainTimeout, defaultShutdownTimeout)
}

// drainTimeoutDiffers reports whether the Machine has another drain timeout than
// the spec asks for; no timeout and zero are one.
func drainTimeoutDiffers(sm *v1beta1.ScheduledMachine, machine *capi.MachineState) bool {
	has := time.Duration(0)
	if machine.DrainTimeout != nil {
		has = *machine.DrainTimeout
	}
	return has != drainTimeout(sm)
}

// timeoutOr returns a timeout of the spec, whose form the schema has checked, or
// another one where the spec gives none.
func timeoutOr(text v1beta1.Timeout, otherwise time.Duration) time.Duration {
	duration, err := time.ParseDuration(string(text))
	if err != nil {
		return otherwise
	}
	return duration
}

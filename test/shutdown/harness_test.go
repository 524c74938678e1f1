// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/test/hardware"
)

// short is spec.gracefulShutdownTimeout where a shutdown is to run into it.
const short = 15 * time.Second

// lateness is how long after the bound the drain may be cut short, on a machine
// that does a hundred other things.
const lateness = 15 * time.Second

// within sets spec.gracefulShutdownTimeout.
func within(bound time.Duration) change {
	return func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.GracefulShutdownTimeout = v1beta1.Timeout(fmt.Sprintf("%ds", int(bound.Seconds())))
	}
}

type change = func(*v1beta1.ScheduledMachine)

// rack is a machine that is up, and the history of what follows.
type rack struct {
	*hardware.Cluster
	sm      *v1beta1.ScheduledMachine
	node    *corev1.Node
	history *hardware.History[*v1beta1.ScheduledMachine]
	machine *hardware.History[*clusterv1.Machine]
}

func newRack(t *testing.T, c *hardware.Cluster, changes ...change) *rack {
	t.Helper()
	return newNamedRack(t, c, "rack", changes...)
}

func newNamedRack(t *testing.T, c *hardware.Cluster, name string, changes ...change) *rack {
	t.Helper()
	sm := c.Machine(t, name, changes...)
	node := c.AwaitNode(t, sm)
	return &rack{
		Cluster: c, sm: sm, node: node,
		history: hardware.Follow(t, c, sm),
		machine: hardware.Follow(t, c, c.CAPIMachine(t, sm)),
	}
}

// awaitForced checks that the shutdown was cut short when its time was over and
// not before, and that the ScheduledMachine says why.
func (r *rack) awaitForced(t *testing.T, bound time.Duration, cause []string) {
	t.Helper()
	begin := r.deletedAt(t)
	if said := machineReady(r.history.Await(t, "had its drain cut short", drainFailed)).Message; !containsAll(said, cause) {
		t.Errorf("condition MachineReady does not say %q:\n%s", cause, said)
	}
	event := r.AwaitEvent(t, r.sm, corev1.EventTypeWarning, v1beta1.ReasonNodeDrainFailed)
	if !containsAll(event.Note, cause) {
		t.Errorf("the event %s does not say %q:\n%s", event.Reason, cause, event.Note)
	}
	if after := event.EventTime.Sub(begin); after < bound || after > bound+lateness {
		t.Errorf("the drain was cut short %s after the shutdown began, want %s to %s", after, bound, bound+lateness)
	}
}

// deletedAt returns when the deletion of the Machine was asked for.
func (r *rack) deletedAt(t *testing.T) time.Time {
	t.Helper()
	return r.machine.Await(t, "was deleted", deleting).DeletionTimestamp.Time
}

// checkNotForced checks that no drain was cut short.
func (r *rack) checkNotForced(t *testing.T) {
	t.Helper()
	if forced, found := r.history.Find(drainFailed); found {
		t.Errorf("the drain was cut short: %s", machineReady(forced).Message)
	}
}

func (r *rack) awaitInactive(t *testing.T) {
	t.Helper()
	r.history.Await(t, "became Inactive", isIn(v1beta1.PhaseInactive))
	r.machine.AwaitGone(t)
}

// awaitDrained waits until the machine is Inactive and its node gone, and checks
// that nothing was cut short and that the pod went.
func (r *rack) awaitDrained(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	r.awaitInactive(t)
	r.AwaitNodeGone(t, r.node)
	if r.PodExists(t, pod) {
		t.Error("the pod is still there, though its node was drained")
	}
	r.checkNotForced(t)
}

func (r *rack) delete(t *testing.T, o client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := r.Client().Delete(hardware.Context(t), o, options...); err != nil {
		t.Fatal(err)
	}
}

func isIn(phase v1beta1.Phase) func(*v1beta1.ScheduledMachine) bool {
	return func(sm *v1beta1.ScheduledMachine) bool { return sm.Status.Phase == phase }
}

// drainFailed reports whether a ScheduledMachine says that its node's drain was cut
// short: while its Machine goes, or once that is gone, which can be a moment later.
func drainFailed(sm *v1beta1.ScheduledMachine) bool {
	ready := machineReady(sm)
	return ready.Reason == v1beta1.ReasonNodeDrainFailed ||
		ready.Reason == v1beta1.ReasonNoMachine && strings.Contains(ready.Message, "How the last one went")
}

func deleting(machine *clusterv1.Machine) bool { return machine.DeletionTimestamp != nil }

func machineReady(sm *v1beta1.ScheduledMachine) metav1.Condition {
	return condition(sm, v1beta1.ConditionMachineReady)
}

func condition(sm *v1beta1.ScheduledMachine, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(sm.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

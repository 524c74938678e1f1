// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// checkHeld is for a Machine that the controller deletes: where Cluster API would
// not drain its node, it waits for us, as far as the controller has seen. Nothing is
// waited for with the kill switch.
func (w *world) checkHeld() {
	seen := reduceChild(w.cached[capi.MachineKind]).machine
	if seen.NodeName != "" && !w.cluster.drains() && !w.cluster.leaves() && !seen.Held && !w.read.Spec.KillSwitch {
		w.fatalf("a Machine is deleted whose node nobody will drain")
	}
}

// checkPatch holds every change of a Machine.
func (w *world) checkPatch(before, after *unstructured.Unstructured) {
	was, is := reduceChild(before), reduceChild(after)
	switch {
	case !is.ownedBy(ownUID):
		w.fatalf("the controller changes a foreign Machine")
	case !was.machine.Held && is.machine.Held && w.cluster.drains():
		w.fatalf("Cluster API is made to wait, and it would drain the node itself")
	case was.machine.Held && !is.machine.Held:
		w.checkLetGo(before)
	case !was.machine.SkipsDrain && is.machine.SkipsDrain && !w.mayCutShort(was.machine, 0):
		w.fatalf("Cluster API's drain is cut short before its time is over")
	}
}

// checkLetGo is for a Machine that waited for our drain: its pods are gone, or
// something excuses that they are not.
func (w *world) checkLetGo(machine *unstructured.Unstructured) {
	state := reduceChild(machine).machine
	left := w.far.left(w.clock.Now())
	switch {
	case state.DeletedAt.IsZero() && w.cluster.drains(), w.drainedByClusterAPI(machine):
	case !w.far.isOf(machine), len(left) == 0 && !state.DeletedAt.IsZero():
	case w.cluster.leaves() && w.secretGone:
	case w.timedOut(state), w.stored() == nil: // nobody is there to say how long it may take
	case w.mayCutShort(state, w.drainBound()):
	default:
		w.fatalf("a Machine is let go whose node has pods %v; deleted at %v", left, state.DeletedAt)
	}
}

// drainBound is the bound of our own drain; zero for none.
func (w *world) drainBound() time.Duration {
	if sm := w.read; sm != nil && sm.Status.DrainStartTime != nil {
		return drainTimeout(sm)
	}
	return 0
}

// mayCutShort reports whether the drain of a Machine may end before it is done: by
// the switch, or since its time is over.
func (w *world) mayCutShort(machine *capi.MachineState, bound time.Duration) bool {
	now := w.clock.Now()
	for _, sm := range []*v1beta1.ScheduledMachine{w.read, w.stored()} {
		if sm == nil {
			continue
		}
		over := !machine.DeletedAt.IsZero() && !now.Before(machine.DeletedAt.Add(shutdownTimeout(sm)))
		drained := bound > 0 && sm.Status.DrainStartTime != nil && !now.Before(sm.Status.DrainStartTime.Add(bound))
		if sm.Spec.KillSwitch || over || drained || w.abandoned(sm) {
			return true
		}
	}
	return false
}

// checkNode holds every change of a Node: other people's taints stay, and nothing
// is cordoned but for a drain.
func (n *nodes) checkNode(before, after *corev1.Node) {
	n.checkOurs()
	if after.Spec.Unschedulable != before.Spec.Unschedulable {
		n.checkDrain()
	}
	for _, foreign := range n.foreign {
		if !hasTaint(after, foreign) {
			n.fatalf("somebody else's taint %v becomes %v", foreign, after.Spec.Taints)
		}
	}
	rest := before.DeepCopy()
	rest.TypeMeta, rest.Spec.Taints, rest.Spec.Unschedulable = after.TypeMeta, after.Spec.Taints, after.Spec.Unschedulable
	rest.Annotations = after.Annotations
	if !equality.Semantic.DeepEqual(rest, after) {
		n.fatalf("more of a Node is changed than is ours: %v becomes %v", before, after)
	}
}

func hasTaint(node *corev1.Node, taint corev1.Taint) bool {
	return slices.Contains(node.Spec.Taints, taint)
}

// checkOurs holds that the Node is that of a Machine of ours.
func (n *nodes) checkOurs() {
	if !strings.HasPrefix(string(n.node.UID), nodeUIDPrefix) {
		n.fatalf("the controller writes somebody else's Node")
	}
}

// checkDrain holds that no node is drained whose Machine stays.
func (n *nodes) checkDrain() {
	n.checkOurs()
	if machine := n.machine(); machine != nil && n.isOf(machine) && machine.GetDeletionTimestamp() == nil {
		n.fatalf("a node is drained whose Machine stays")
	}
}

// checkNodeDeletion holds that no Node is deleted whose Machine is there.
func (n *nodes) checkNodeDeletion() {
	n.checkOurs()
	if machine := n.machine(); machine != nil && n.isOf(machine) {
		n.fatalf("the Node of a Machine that is there is deleted")
	}
}

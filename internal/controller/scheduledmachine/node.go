// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

// nodeCare is what was made of the machine's node in its workload cluster.
type nodeCare struct {
	// reachable and tainted are conditions; without a type there is none to write.
	reachable, tainted metav1.Condition
	// wantsTaints is true while there are taints to look after.
	wantsTaints bool
	// applied are the taints that are on the node by our hand.
	applied []v1beta1.NodeTaint
}

// observeNode looks at the machine's node, where something is to be done there:
// nobody connects to a workload cluster for nothing.
func (r *Reconciler) observeNode(sm *v1beta1.ScheduledMachine, seen *observation) {
	owner := client.ObjectKeyFromObject(sm)
	if !looksAfterNode(sm, seen) {
		r.workloads.Release(owner)
		return
	}
	target := workload.Target{ProviderID: sm.Status.ProviderID}
	if machine := seen.machine.state(); machine != nil {
		target = workload.Target{Node: machine.NodeName, ProviderID: machine.ProviderID}
	} else if sm.Status.NodeRef != nil {
		target.Node = sm.Status.NodeRef.Name
	}
	view := r.workloads.Use(owner, workload.ReferenceOf(sm, seen.controlled && !knownByUID(sm, seen)), target)
	seen.view = &view
	if maybeUs := seen.drainer == drainerUs || seen.drainer == drainerUnknown; maybeUs && nodeReady(sm, seen.machine, &view) {
		seen.machine = seen.machine.withNodeReady()
	}
}

// nodeReady reports whether the Node is ready. While a controller that has just started
// has yet to see it, what is on record stands.
func nodeReady(sm *v1beta1.ScheduledMachine, machine piece, view *workload.View) bool {
	if view.NodeState == workload.NodeUnknown {
		return machine.present() && machineReady(sm.Status.Conditions).Status == metav1.ConditionTrue && wasReady(sm, machine)
	}
	return view.NodeState == workload.NodePresent && view.Node.Ready
}

// knownByUID reports whether the node of a machine that goes is to be known by the
// UID on record: its Cluster goes too, or is gone, and says no longer whether it
// has an API server of its own. The management cluster is looked at as well then,
// where a Node of the same name may be another machine's.
func knownByUID(sm *v1beta1.ScheduledMachine, seen *observation) bool {
	machine := seen.machine.state()
	going := machine == nil || !machine.DeletedAt.IsZero()
	return going && seen.drainer == drainerNobody && sm.Status.NodeRef != nil && sm.Status.NodeRef.UID != ""
}

// isOurNode reports whether the Node in view is the machine's.
func isOurNode(f *facts) bool {
	view := f.seen.view
	return view.NodeState == workload.NodePresent &&
		(!knownByUID(f.sm, f.seen) || view.Node.UID == f.sm.Status.NodeRef.UID)
}

// withNodeReady is the Machine with the Node's own word for it that it is ready.
// Where it knows of no control plane, Cluster API does not look at Nodes.
func (p piece) withNodeReady() piece {
	machine := p.state()
	if machine == nil || machine.NodeReady {
		return p
	}
	state, object := *machine, *p.child // what the cache holds is shared
	state.NodeReady, object.machine = true, &state
	p.child = &object
	return p
}

// looksAfterNode reports whether the workload cluster matters: for taints, for a
// node that Cluster API would not drain, and to say whether a kubeconfig that
// was named leads anywhere.
func looksAfterNode(sm *v1beta1.ScheduledMachine, seen *observation) bool {
	machine := seen.machine.state()
	oursToDrain := machine != nil && machine.NodeName != "" && (seen.drainer == drainerUs || machine.Held)
	return wantsTaints(sm) || sm.Spec.KubeconfigSecretRef != nil || sm.Status.DrainStartTime != nil || oursToDrain
}

// wantsTaints reports whether there are taints to look after. Once there were, it
// is looked for those that a crash has kept out of the status, until the
// condition is gone.
func wantsTaints(sm *v1beta1.ScheduledMachine) bool {
	return len(sm.Spec.NodeTaints)+len(sm.Status.AppliedNodeTaints) > 0 ||
		meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionNodeTainted) != nil
}

// settle ends the looking after taints where none is wanted and none of ours is left.
func (c *nodeCare) settle(sm *v1beta1.ScheduledMachine) {
	if len(sm.Spec.NodeTaints)+len(c.applied) == 0 {
		*c = nodeCare{reachable: c.reachable}
	}
}

// tendNode brings the taints of the spec onto the node.
func (r *Reconciler) tendNode(ctx context.Context, f *facts) error {
	if f.seen.view == nil {
		return nil
	}
	view := f.seen.view
	f.node = nodeCare{wantsTaints: wantsTaints(f.sm), applied: f.sm.Status.AppliedNodeTaints}
	if view.State == workload.Loading {
		return nil // what was said last stays
	}
	f.node.reachable = view.Reachability()
	if !f.node.wantsTaints {
		return nil
	}
	machine := f.machine()
	switch {
	case f.seen.machine.doubtful():
		return nil // nothing has changed as far as one can tell
	case machine == nil || !machine.DeletedAt.IsZero():
		f.node.tainted, f.node.applied = taints.NoNode("There is no node to taint"), nil
		f.node.settle(f.sm)
		return nil
	case view.NodeState == workload.NodeForeign:
		f.node.tainted = taints.NoNode("The Node named " + machine.NodeName + " is another machine's")
		return nil
	case view.NodeState != workload.NodePresent:
		f.node.tainted = taints.NoNode("The machine's node has not been seen yet")
		return nil
	}
	return r.taint(ctx, f, view)
}

// taint carries out what is to be done to the taints of a Node that is there.
func (r *Reconciler) taint(ctx context.Context, f *facts, view *workload.View) error {
	f.node.applied = taints.Recorded(&f.sm.Status, view.Node) // of an earlier Node, none is on this one
	plan := taints.Make(f.sm.Spec.NodeTaints, f.node.applied, view.Node)
	if !plan.Pending() {
		f.node.applied, f.node.tainted = plan.Owned, taints.Condition(plan, nil)
		f.node.settle(f.sm)
		return nil
	}
	if view.Client == nil || !view.Node.Ready {
		f.node.tainted = taints.Condition(plan, nil)
		if view.Node.Ready { // only the cluster is out of reach: the other condition says so
			f.node.tainted = metav1.Condition{}
		}
		return nil
	}
	if meta.FindStatusCondition(f.sm.Status.Conditions, v1beta1.ConditionNodeTainted) == nil {
		// Else nobody would look for taints that are written now and, with the status
		// not written, are out of the spec by the next look.
		f.node.tainted = taints.NoNode("The taints of Node " + view.Node.Name + " are about to be written")
		return nil // the change of the status wakes us
	}
	node, err := taints.Apply(ctx, view.Client, plan)
	if taints.Stale(err) {
		return nil // the Node's own change wakes us
	}
	f.node.tainted = taints.Condition(plan, err)
	if err != nil {
		return err
	}
	r.workloads.Wrote(client.ObjectKeyFromObject(f.sm), node)
	f.node.applied = plan.Owned
	f.node.settle(f.sm)
	return nil
}

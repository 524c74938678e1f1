// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/internal/drain"
	"github.com/fivespot/fivespot/internal/workload"
)

// drainProgress is how far our own drain of a node is.
type drainProgress struct {
	done    bool
	message string
	// hopeless says why the node was not drained and never will be; "" if it may be.
	hopeless string
	// asked is what came of asking pods to go.
	asked drain.Evictions
}

// waiting says what keeps the drain from being done.
func (d *drainProgress) waiting() string {
	if d == nil || d.message == "" {
		return "Waiting for its node to be drained"
	}
	return d.message
}

// drainAndLetGo takes one step of a drain that Cluster API would not do, and lets
// the Machine go once nothing is left on its node. A cluster that cannot be
// reached is waited for until the time of the drain is over.
func (r *Reconciler) drainAndLetGo(ctx context.Context, f *facts) error {
	f.drain = drainStep(ctx, f)
	r.metrics.evicted(f.drain.asked)
	if !f.drain.done && hardwareGoes(f.seen) {
		f.drain.hopeless = "its infrastructure object was deleted too, which switches it off"
	}
	if f.drain.done || f.drain.hopeless != "" && givenUp(f) {
		return r.letGo(ctx, f.sm, f.seen.machine)
	}
	return nil // the next look is set, or comes with the status that gives the drain up
}

func drainStep(ctx context.Context, f *facts) *drainProgress {
	view := f.seen.view
	switch {
	case view == nil || view.State == workload.Loading:
		if wasDraining(f) {
			return &drainProgress{message: machineReady(f.sm.Status.Conditions).Message} // as far as one can tell
		}
		return &drainProgress{message: "Waiting for the workload cluster to be connected to"}
	case view.State == workload.Unreachable:
		return &drainProgress{
			message:  "Waiting for the workload cluster to be reached: " + view.Message,
			hopeless: lostWithCluster(f, view.Reason == workload.ReasonKubeconfigNotFound),
		}
	case view.Management && !isOurNode(f):
		// Cluster API found the node by a kubeconfig: this is not the node's cluster.
		return &drainProgress{
			message:  "Waiting for the Secret with the kubeconfig of cluster " + f.sm.Spec.ClusterName + ", which is gone",
			hopeless: lostWithCluster(f, true),
		}
	case view.NodeState == workload.NodeAbsent, view.NodeState == workload.NodeForeign:
		return nodeGone(ctx, f)
	case view.NodeState != workload.NodePresent:
		return &drainProgress{message: "Waiting for its node to be seen"}
	}
	progress, err := drain.Step(ctx, view.Client, view.Node.Name, drain.Options{UID: view.Node.UID, Now: f.now})
	if err != nil {
		return &drainProgress{message: "Waiting for the workload cluster to answer: " + workload.Explain(err, "drain its node"), asked: progress.Evictions}
	}
	return &drainProgress{done: progress.Done, message: progress.Message(), asked: progress.Evictions}
}

// lostWithCluster says that a Secret that is gone does not come back: the Cluster
// goes too, as with its namespace.
func lostWithCluster(f *facts, gone bool) string {
	if gone && f.seen.drainer == drainerNobody {
		return "its Cluster goes, and cannot be reached any more"
	}
	return ""
}

// hardwareGoes reports whether the infrastructure object of a Machine that is held
// goes on its own, as all objects do that are deleted with their namespace or before
// their owner. Its provider does not wait for a drain; no more is done then than to
// ask the pods to go. Cluster API takes the same view.
func hardwareGoes(seen *observation) bool {
	p := seen.infrastructure
	absent := p.kind.Kind != "" && p.child == nil && !p.doubtful()
	return p.deleting() || absent && len(seen.leftovers) == 0
}

// nodeGone asks the workload cluster itself whether the machine's node, which is not
// among the Nodes that were seen, is gone: what was seen may be behind.
func nodeGone(ctx context.Context, f *facts) *drainProgress {
	machine := f.machine()
	node, err := f.seen.view.Client.CoreV1().Nodes().Get(ctx, machine.NodeName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && machine.ProviderID != "" && node.Spec.ProviderID != machine.ProviderID:
		return &drainProgress{done: true}
	case err != nil:
		return &drainProgress{message: "Waiting for the workload cluster to answer: " + workload.Explain(err, "read Nodes")}
	}
	return &drainProgress{message: "Waiting for its node to be seen"}
}

// forgetNode deletes the Node of a machine that is gone, which Cluster API leaves
// where it drains none. One that is another machine's by now stays, and so does
// one that cannot be deleted in time.
func (r *Reconciler) forgetNode(ctx context.Context, f *facts) error {
	view, late := f.seen.view, !f.now.Before(nodeDeadline(f.sm))
	if err := r.confirmNoMachine(ctx, f.sm, f.seen); err != nil {
		return err
	}
	switch {
	case view == nil || view.State == workload.Loading, view.State == workload.Reachable && view.NodeState == workload.NodeUnknown:
		return errConnecting
	case view.State == workload.Unreachable && lostWithCluster(f, view.Reason == workload.ReasonKubeconfigNotFound) != "":
		return nil // it went with its cluster
	case view.State == workload.Unreachable && !late:
		return fmt.Errorf("%w to delete Node %s: %s", errNodeUnseen, f.sm.Status.NodeRef.Name, view.Message)
	case view.State == workload.Unreachable:
		f.nodeLeft = view.Message
		return nil
	case !isOurNode(f), view.Node.UID != cmp.Or(f.sm.Status.NodeRef.UID, view.Node.UID):
		return nil
	}
	err := drain.DeleteNode(ctx, view.Client, view.Node.Name, view.Node.UID)
	switch {
	case err != nil && late:
		f.nodeLeft = workload.Explain(err, "delete Nodes")
	case err != nil:
		return fmt.Errorf("deleting Node %s: %s", view.Node.Name, workload.Explain(err, "delete Nodes"))
	}
	return nil
}

// errConnecting says that it is yet to be seen whether a Node is left. It is no
// trouble: when it is seen, the reconcile is woken.
var errConnecting = errors.New("the workload cluster is being connected to")

// errNodeUnseen says that a Node to be deleted was not seen yet; when it is, or
// when its time is over, the reconcile is woken.
var errNodeUnseen = errors.New("the workload cluster cannot be asked")

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/workload"
)

// nodes is a cluster that has one Node at most, always of the same name, with
// pods on it.
type nodes struct {
	*world
	client kubernetes.Interface
	state  workload.State // of the controller's connection

	node, seen *corev1.Node // as it is, and as the watch brought it; nil for none
	pods       map[string]*pod
	// foreign are the taints that somebody else put on the node, by key.
	foreign map[string]corev1.Taint
}

// pod is what runs on the node.
type pod struct {
	refuses bool      // evictions are refused
	evicted time.Time // zero if it was not asked to go
}

func newNodes(w *world) *nodes {
	n := &nodes{world: w, state: workload.Reachable}
	n.client = newNodesClient(n)
	return n
}

// nodeUIDPrefix begins the UID of each Node of a Machine of ours.
const nodeUIDPrefix = "node-of-"

// join has a new Machine's node join, in place of one that a Machine before it left.
func (n *nodes) join(machine *unstructured.Unstructured) {
	n.put(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "worker-1", UID: nodeUIDPrefix + machine.GetUID()},
		Spec:       corev1.NodeSpec{ProviderID: "dev:///" + string(machine.GetUID())},
	})
	n.setReady(corev1.ConditionTrue)
	n.foreign = map[string]corev1.Taint{}
	n.pods = map[string]*pod{"quotes": {}, "orders": {}}
}

// joinForeign has the machine of somebody else join.
func (n *nodes) joinForeign() {
	machine := &unstructured.Unstructured{Object: map[string]any{}}
	machine.SetUID("somebody-elses")
	n.join(machine)
	n.node.UID = "somebody-elses"
}

// isOf reports whether the Node is that of a Machine.
func (n *nodes) isOf(machine *unstructured.Unstructured) bool {
	return n.node != nil && n.node.UID == nodeUIDPrefix+machine.GetUID()
}

func (n *nodes) put(node *corev1.Node) {
	n.version++
	node.ResourceVersion = strconv.Itoa(n.version)
	n.node = node
}

func (n *nodes) ready() corev1.ConditionStatus {
	if n.node == nil {
		return corev1.ConditionUnknown
	}
	return n.node.Status.Conditions[0].Status
}

func (n *nodes) setReady(status corev1.ConditionStatus) {
	node := n.node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	n.put(node)
}

// left returns the pods that have yet to go. On a node that does not report they
// cannot be seen to end, and those that were asked to go a while ago do not count.
func (n *nodes) left(now time.Time) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n.pods)), func(name string) bool {
		evicted := n.pods[name].evicted
		return !evicted.IsZero() && n.ready() == corev1.ConditionUnknown && now.Sub(evicted) > time.Second
	})
}

// evictAll asks the pods to go, as Cluster API does.
func (n *nodes) evictAll() {
	for _, pod := range n.pods {
		if !pod.refuses && pod.evicted.IsZero() {
			pod.evicted = n.clock.Now()
		}
	}
}

// podsEnd ends the pods that were asked to go, if there is a kubelet to do so.
func (n *nodes) podsEnd() {
	if n.ready() != corev1.ConditionTrue {
		return
	}
	maps.DeleteFunc(n.pods, func(_ string, pod *pod) bool {
		if !pod.evicted.IsZero() {
			n.version++
		}
		return !pod.evicted.IsZero()
	})
}

// reachable reports whether the workload cluster can be reached: by its kubeconfig,
// or as the management cluster where nothing speaks for another one.
func (w *world) reachable() bool {
	own := w.far == w.near && w.cluster.state == clusterThere && w.cluster.controlPlane == ""
	return w.far.state == workload.Reachable && (!w.secretGone || own)
}

func (w *world) changeWorkload(t *rapid.T) {
	w.far.state = rapid.SampledFrom([]workload.State{workload.Loading, workload.Unreachable, workload.Reachable, workload.Reachable}).Draw(t, "is")
	if w.far == w.near {
		return
	}
	w.secretGone = rapid.IntRange(0, 3).Draw(t, "the Secret is gone") == 3
	if w.near.node = nil; rapid.Bool().Draw(t, "the management cluster has a Node of the same name") {
		w.near.joinForeign()
		w.near.seen = w.near.node
	}
}

// changeNode lets something happen to the node: to its pods, its taints, or itself.
func (w *world) changeNode(t *rapid.T) {
	n := w.far
	if n.node == nil {
		return
	}
	switch rapid.SampledFrom([]string{"pods", "pods end", "ready", "heartbeat", "taints", "taints"}).Draw(t, "changes") {
	case "pods":
		for _, name := range slices.Sorted(maps.Keys(n.pods)) {
			n.pods[name].refuses = rapid.Bool().Draw(t, name+" refuses to go")
		}
	case "pods end":
		n.podsEnd()
	case "ready":
		n.setReady(rapid.SampledFrom([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}).Draw(t, "ready"))
	case "heartbeat":
		n.put(n.node.DeepCopy())
	case "taints":
		n.changeTaints(t)
	}
}

var taintKeys = []string{"example.com/desk", "example.com/spot"}

// changeTaints has somebody else write the node's taints: one is added where
// nobody else claims it, changed, or taken away, whoever's it is.
func (n *nodes) changeTaints(t *rapid.T) {
	key := rapid.SampledFrom(taintKeys).Draw(t, "taint")
	node := n.node.DeepCopy()
	at := slices.IndexFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == key })
	_, foreign := n.foreign[key]
	taint := corev1.Taint{Key: key, Value: rapid.SampledFrom([]string{"x", "theirs"}).Draw(t, "value"), Effect: corev1.TaintEffectNoSchedule}
	switch gone := rapid.Bool().Draw(t, "is taken away"); {
	case at < 0 && (gone || n.claimed(key)):
		return
	case at < 0:
		node.Spec.Taints = append(node.Spec.Taints, taint)
		n.foreign[key] = taint
	case gone:
		node.Spec.Taints = slices.Delete(node.Spec.Taints, at, at+1)
		delete(n.foreign, key)
	default:
		node.Spec.Taints[at] = taint
		if foreign {
			n.foreign[key] = taint
		}
	}
	n.put(node)
}

// claimed reports whether a taint that is not on the node is on record as ours.
func (n *nodes) claimed(key string) bool {
	if strings.Contains(n.node.Annotations[v1beta1.AnnotationAppliedTaints], key) {
		return true
	}
	for _, sm := range []*v1beta1.ScheduledMachine{n.stored(), n.known, n.watched} {
		if sm != nil && slices.ContainsFunc(sm.Status.AppliedNodeTaints, func(taint v1beta1.NodeTaint) bool { return taint.Key == key }) {
			return true
		}
	}
	return false
}

// What the Reconciler knows of workload clusters.

type worldWorkloads struct{ *world }

func (w worldWorkloads) Use(_ types.NamespacedName, reference workload.Reference, target workload.Target) workload.View {
	n := w.connected()
	switch {
	case n == w.near && reference.Remote:
		return workload.View{State: workload.Unreachable, Reason: workload.ReasonKubeconfigNotFound, Message: "there is no Secret"}
	case n.state == workload.Loading:
		return workload.View{State: workload.Loading, Reason: workload.ReasonConnecting, Message: "connecting"}
	}
	view := workload.View{State: n.state, Management: n == w.near, Reason: v1beta1.ReasonReachable, Message: "reached"}
	if n.state == workload.Reachable {
		view.Client = n.client
	} else {
		view.Reason, view.Message = workload.ReasonUnreachable, "does not answer"
	}
	switch {
	case target.Node == "":
	case n.seen == nil:
		view.NodeState = workload.NodeAbsent
	case target.ProviderID != "" && n.seen.Spec.ProviderID != target.ProviderID:
		view.NodeState = workload.NodeForeign
	default:
		view.NodeState, view.Node = workload.NodePresent, workload.NodeOf(n.seen)
	}
	return view
}

// connected returns the cluster that a kubeconfig, or its absence, leads to.
func (w *world) connected() *nodes {
	if w.secretGone {
		return w.near
	}
	return w.far
}

func (w worldWorkloads) Release(types.NamespacedName) {}

func (w worldWorkloads) Wrote(_ types.NamespacedName, node *corev1.Node) { w.connected().seen = node }

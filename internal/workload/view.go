// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// State says how much is known of a workload cluster.
type State int

const (
	// Loading: not known yet. The owner is woken when it is; nothing should be
	// concluded, and no condition changed, until then.
	Loading State = iota
	// Unreachable: the cluster cannot be reached; the view says why.
	Unreachable
	// Reachable: the cluster's Nodes are being watched.
	Reachable
)

// NodeState says how much is known of a Node.
type NodeState int

const (
	// NodeUnknown: the cluster's Nodes were never seen, or no Node was asked for.
	NodeUnknown NodeState = iota
	// NodeAbsent: there is no such Node.
	NodeAbsent
	// NodeForeign: there is a Node of this name with another provider ID. It is
	// not the machine's and must be left alone.
	NodeForeign
	// NodePresent: the view has the Node.
	NodePresent
)

// View is what is known of a ScheduledMachine's workload cluster and Node.
type View struct {
	// State says which of the other fields hold something.
	State State
	// Management is true when the management cluster is the workload cluster.
	Management bool
	// Reason and Message say how the cluster is reached, or why it is not.
	Reason, Message string
	// Since is when the cluster became Reachable or Unreachable.
	Since time.Time
	// NodeState says whether Node is there. While the cluster is Unreachable it is
	// what was last known.
	NodeState NodeState
	// Node is the Node, when NodePresent. It is shared: do not change it.
	Node *Node
	// Client talks to the cluster; nil unless it is Reachable. Each of its requests
	// ends within RequestTimeout.
	Client kubernetes.Interface
}

// Reachability returns the condition ChildClusterReachable, without
// observedGeneration and lastTransitionTime: Unknown while Loading.
func (v View) Reachability() metav1.Condition {
	status := map[State]metav1.ConditionStatus{
		Loading: metav1.ConditionUnknown, Unreachable: metav1.ConditionFalse, Reachable: metav1.ConditionTrue,
	}[v.State]
	return metav1.Condition{
		Type: v1beta1.ConditionChildClusterReachable, Status: status, Reason: v.Reason, Message: v.Message,
	}
}

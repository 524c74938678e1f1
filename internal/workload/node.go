// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// Annotations by which something on the node asks for the machine to go.
const (
	annotationReclaimRequested = "5spot.finos.org/reclaim-requested"
	annotationReclaimReason    = "5spot.finos.org/reclaim-reason"
)

// keptAnnotations are those of a Node's annotations that are remembered.
var keptAnnotations = []string{v1beta1.AnnotationAppliedTaints, annotationReclaimRequested, annotationReclaimReason}

// Node is what is remembered of a Node. It does not change.
type Node struct {
	// Name of the Node.
	Name string
	// UID tells the Node from an earlier one of the same name.
	UID types.UID
	// ResourceVersion as last seen. A change of it alone, by a heartbeat, wakes nobody.
	ResourceVersion string
	// ProviderID is the infrastructure's name for the machine; empty if unset.
	ProviderID string
	// Ready is true while the kubelet says that the node is ready.
	Ready bool
	// Unreachable is true when the node has stopped to report, so that pods on it
	// cannot be seen to end.
	Unreachable bool
	// Unschedulable is true once the node is cordoned.
	Unschedulable bool
	// Taints are all taints of the node.
	Taints []corev1.Taint
	// TaintsWrittenBy is the field manager that wrote the list of taints last, which
	// need not be the one that added each of them; empty where nobody knows, as on a
	// Node that was never changed by server-side apply.
	TaintsWrittenBy string
	// Annotations are the few that 5-Spot uses.
	Annotations map[string]string
}

// NodeOf returns what is remembered of a Node.
func NodeOf(node *corev1.Node) *Node {
	kept := &Node{
		Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion,
		ProviderID: node.Spec.ProviderID, Unschedulable: node.Spec.Unschedulable,
		Taints: slices.Clone(node.Spec.Taints), TaintsWrittenBy: taintsWriter(node),
	}
	for i := range node.Status.Conditions {
		if condition := &node.Status.Conditions[i]; condition.Type == corev1.NodeReady {
			kept.Ready = condition.Status == corev1.ConditionTrue
			kept.Unreachable = condition.Status == corev1.ConditionUnknown
		}
	}
	for _, key := range keptAnnotations {
		if value, ok := node.Annotations[key]; ok {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[key] = value
		}
	}
	return kept
}

// reduceNode strips a Node of what is not remembered, so that a large cluster's never
// are in memory as a whole, and returns what is.
func reduceNode(node *corev1.Node) *Node {
	kept := NodeOf(node)
	status := corev1.ConditionFalse
	switch {
	case kept.Ready:
		status = corev1.ConditionTrue
	case kept.Unreachable:
		status = corev1.ConditionUnknown
	}
	*node = corev1.Node{
		TypeMeta:   node.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Name: kept.Name, UID: kept.UID, ResourceVersion: kept.ResourceVersion, Annotations: kept.Annotations},
		Spec:       corev1.NodeSpec{ProviderID: kept.ProviderID, Unschedulable: kept.Unschedulable, Taints: kept.Taints},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}},
	}
	if kept.TaintsWrittenBy != "" {
		node.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: kept.TaintsWrittenBy, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`),
		}}
	}
	return kept
}

// same reports whether nothing that matters has changed.
func (n *Node) same(other *Node) bool {
	return n.UID == other.UID && n.ProviderID == other.ProviderID && n.Ready == other.Ready &&
		n.Unreachable == other.Unreachable && n.Unschedulable == other.Unschedulable &&
		n.TaintsWrittenBy == other.TaintsWrittenBy && n.SameTaints(other)
}

// SameTaints reports whether two states of a Node have the same taints, in the
// same order, and say the same of them.
func (n *Node) SameTaints(other *Node) bool {
	return maps.Equal(n.Annotations, other.Annotations) && slices.EqualFunc(n.Taints, other.Taints, func(a, b corev1.Taint) bool {
		return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect && a.TimeAdded.Equal(b.TimeAdded)
	})
}

// taintsWriter returns the manager of spec.taints. The list is atomic: it has
// one manager, or several that wrote the same.
func taintsWriter(node *corev1.Node) string {
	for _, entry := range node.ManagedFields {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		var fields struct {
			Spec struct {
				Taints json.RawMessage `json:"f:taints"`
			} `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && fields.Spec.Taints != nil {
			return entry.Manager
		}
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/workload"
)

// Plan is what is to be done to a Node.
type Plan struct {
	// Taints is the whole list that the Node is to have.
	Taints []corev1.Taint
	// Owned are those of ours on the Node once the plan is carried out, by key and
	// effect: what status.appliedNodeTaints is to say then.
	Owned []v1beta1.NodeTaint
	// Added, Changed and Removed are the differences to the Node as it is. A taint
	// of ours that somebody took away is added again; one that somebody changed is
	// changed back.
	Added, Changed, Removed []v1beta1.NodeTaint
	// Conflicts are taints that are wanted and are on the Node by someone else's hand.
	Conflicts []Conflict

	node *workload.Node
	// annotation is what the Node is to say of Owned; empty for no annotation.
	annotation string
}

// Conflict is a taint that is wanted, while the Node has one of the same key and
// effect that 5-Spot did not put there. It is never overwritten, nor removed
// later, even where the two say the same.
type Conflict struct {
	// Wanted is the taint of the spec.
	Wanted v1beta1.NodeTaint
	// Value is the value of the taint on the Node.
	Value string
}

// Make returns the plan that brings the wanted taints onto a Node and those of
// ours that are not wanted any more off it. recorded are the taints that the
// ScheduledMachine's status says are ours; see Recorded.
func Make(wanted, recorded []v1beta1.NodeTaint, node *workload.Node) Plan {
	plan := Plan{node: node}
	ours := owned(recorded, node.Annotations[v1beta1.AnnotationAppliedTaints])
	want := map[id]v1beta1.NodeTaint{}
	for _, taint := range wanted {
		want[idOf(taint)] = taint
	}
	taken := map[id]bool{}
	for i := range node.Taints {
		taint := node.Taints[i]
		key := id{taint.Key, v1beta1.TaintEffect(taint.Effect)}
		wish, wished := want[key]
		taken[key] = true
		switch {
		case !ours[key]:
			plan.Taints = append(plan.Taints, taint)
			if wished {
				plan.Conflicts = append(plan.Conflicts, Conflict{wish, taint.Value})
			}
		case !wished:
			plan.Removed = append(plan.Removed, v1beta1.NodeTaint{Key: key.key, Value: taint.Value, Effect: key.effect})
		case wish.Value != taint.Value:
			plan.Changed = append(plan.Changed, wish)
			plan.Taints = append(plan.Taints, coreTaint(wish))
			plan.Owned = append(plan.Owned, wish)
		default:
			plan.Taints = append(plan.Taints, taint)
			plan.Owned = append(plan.Owned, wish)
		}
	}
	for _, wish := range wanted {
		if key := idOf(wish); !taken[key] {
			taken[key] = true
			plan.Added = append(plan.Added, wish)
			plan.Taints = append(plan.Taints, coreTaint(wish))
			plan.Owned = append(plan.Owned, wish)
		}
	}
	slices.SortFunc(plan.Owned, compare)
	plan.annotation = formatOwned(plan.Owned)
	return plan
}

// Pending reports whether anything has to be written to the Node.
func (p *Plan) Pending() bool {
	return len(p.Added)+len(p.Changed)+len(p.Removed) > 0 || p.annotation != p.node.Annotations[v1beta1.AnnotationAppliedTaints]
}

// Recorded returns the taints that a status says are on a Node by our hand: none
// when the status is about an earlier Node, even one of the same name.
func Recorded(status *v1beta1.ScheduledMachineStatus, node *workload.Node) []v1beta1.NodeTaint {
	if status.NodeRef == nil || status.NodeRef.UID != node.UID {
		return nil
	}
	return status.AppliedNodeTaints
}

// id is what tells taints of a Node apart.
type id struct {
	key    string
	effect v1beta1.TaintEffect
}

func idOf(taint v1beta1.NodeTaint) id { return id{taint.Key, taint.Effect} }

func compare(a, b v1beta1.NodeTaint) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Effect, b.Effect))
}

func coreTaint(taint v1beta1.NodeTaint) corev1.Taint {
	return corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)}
}

// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/workload"
)

// NoNode is the condition NodeTainted while there is no Node to look at.
func NoNode(why string) metav1.Condition {
	return condition(metav1.ConditionUnknown, v1beta1.ReasonNoNodeYet, why)
}

// Condition returns the condition NodeTainted, without observedGeneration and
// lastTransitionTime, for a plan that was carried out if failure is nil and the
// Node is ready. A failure is put into words of our own.
func Condition(plan Plan, failure error) metav1.Condition {
	name := plan.node.Name
	switch {
	case failure != nil:
		return condition(metav1.ConditionFalse, v1beta1.ReasonPatchFailed,
			fmt.Sprintf("The taints of Node %s cannot be written: %s", name, workload.Explain(failure, "patch Nodes")))
	case plan.Pending() && !plan.node.Ready:
		return condition(metav1.ConditionFalse, v1beta1.ReasonNodeNotReady,
			fmt.Sprintf("Node %s is not ready yet; its taints are written once it is", name))
	case len(plan.Conflicts) > 0:
		return condition(metav1.ConditionFalse, v1beta1.ReasonTaintOwnershipConflict, plan.conflicts())
	case len(plan.Owned) == 0:
		return condition(metav1.ConditionTrue, v1beta1.ReasonApplied, fmt.Sprintf("No taint on Node %s is 5-Spot's", name))
	}
	return condition(metav1.ConditionTrue, v1beta1.ReasonApplied, fmt.Sprintf("Node %s has %s", name, join(plan.Owned)))
}

func condition(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: v1beta1.ConditionNodeTainted, Status: status, Reason: reason, Message: message}
}

// conflicts tells of each conflict, and what to do.
func (p *Plan) conflicts() string {
	var all []string
	for _, c := range p.Conflicts {
		all = append(all, fmt.Sprintf("%s, where the value is %q", text(c.Wanted), c.Value))
	}
	by := ""
	if writer := p.node.TaintsWrittenBy; writer != "" && writer != v1beta1.FieldManagerNodeTaints {
		by = " (its taints were last written by " + writer + ")"
	}
	return fmt.Sprintf("Node %s has a taint of the same key and effect that 5-Spot did not put there%s: %s. "+
		"It is left as it is: take it off the Node, or out of spec.nodeTaints", p.node.Name, by, strings.Join(all, "; "))
}

func join(taints []v1beta1.NodeTaint) string {
	all := make([]string, 0, len(taints))
	for _, taint := range taints {
		all = append(all, text(taint))
	}
	return strings.Join(all, ", ")
}

// text writes a taint as kubectl does.
func text(taint v1beta1.NodeTaint) string {
	if taint.Value == "" {
		return fmt.Sprintf("%s:%s", taint.Key, taint.Effect)
	}
	return fmt.Sprintf("%s=%s:%s", taint.Key, taint.Value, taint.Effect)
}

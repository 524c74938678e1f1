// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"maps"
	"slices"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/workload"
)

// CarryOut returns the Node as it is once a plan was written.
func CarryOut(plan Plan) *workload.Node {
	node := *plan.node
	node.Taints = slices.Clone(plan.Taints)
	node.Annotations = maps.Clone(node.Annotations)
	delete(node.Annotations, v1beta1.AnnotationAppliedTaints)
	if plan.annotation != "" {
		node.Annotations[v1beta1.AnnotationAppliedTaints] = plan.annotation
	}
	return &node
}

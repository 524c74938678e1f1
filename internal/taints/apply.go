// SPDX-License-Identifier: Apache-2.0

package taints

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// Apply carries a plan out and returns the Node as it then is. An error for
// which Stale holds means that the Node has changed since it was seen, and that
// nothing was written.
func Apply(ctx context.Context, client kubernetes.Interface, plan Plan) (*corev1.Node, error) {
	how, options := types.ApplyPatchType, metav1.PatchOptions{FieldManager: v1beta1.FieldManagerNodeTaints, Force: new(true)}
	if plan.annotation == "" {
		how, options.Force = types.MergePatchType, nil
	}
	body, err := json.Marshal(plan.patch())
	if err != nil {
		return nil, fmt.Errorf("writing the patch of Node %s: %w", plan.node.Name, err)
	}
	node, err := client.CoreV1().Nodes().Patch(ctx, plan.node.Name, how, body, options)
	if err != nil {
		return nil, fmt.Errorf("patching the taints of Node %s: %w", plan.node.Name, err)
	}
	return node, nil
}

// Stale reports whether an error of Apply says that the Node has changed, has
// gone or was replaced since it was seen.
func Stale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || otherUID(err)
}

// otherUID reports whether a UID did not fit, which the API server refuses as a
// change of a field that cannot be changed.
func otherUID(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == "metadata.uid"
	})
}

// patch is what is sent. While something is ours it is the configuration that we
// apply: the list has one owner, which is us from then on, and who adds to it by
// an update becomes its owner in turn, with our taints in it. Once nothing is
// ours it is a plain patch, after which nothing of the list is applied by us.
//
// The UID keeps server-side apply from making a Node that has gone anew, and the
// resource version keeps it from overwriting what was not seen.
func (p *Plan) patch() map[string]any {
	annotations := map[string]any{v1beta1.AnnotationAppliedTaints: p.annotation}
	if p.annotation == "" {
		annotations[v1beta1.AnnotationAppliedTaints] = nil
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{
			"name": p.node.Name, "uid": p.node.UID, "resourceVersion": p.node.ResourceVersion,
			"annotations": annotations,
		},
		"spec": map[string]any{"taints": p.Taints},
	}
}

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
	"github.com/fivespot/fivespot/internal/workload"
)

// Apply carries a plan out and returns the Node as it then is. An error for
// which Stale holds means that what the plan rests on has changed since it was
// seen, and that nothing was written. A change of anything else, such as a
// heartbeat, is none: then it is tried again, and where that does not help the
// error is like any other, since nobody is woken by a heartbeat.
func Apply(ctx context.Context, client kubernetes.Interface, plan Plan) (*corev1.Node, error) {
	node, err := plan.send(ctx, client)
	for range heartbeats {
		if !apierrors.IsConflict(err) {
			break
		}
		if err = plan.renew(ctx, client); err != nil {
			break
		}
		node, err = plan.send(ctx, client)
	}
	if err != nil {
		return nil, fmt.Errorf("patching the taints of Node %s: %w", plan.node.Name, err)
	}
	return node, nil
}

// heartbeats is how many changes of a Node that do not matter may come between
// at most: kubelets write a few a minute.
const heartbeats = 3

func (p *Plan) send(ctx context.Context, client kubernetes.Interface) (*corev1.Node, error) {
	how, options := types.ApplyPatchType, metav1.PatchOptions{FieldManager: v1beta1.FieldManagerNodeTaints, Force: new(true)}
	if p.annotation == "" {
		how, options.Force = types.MergePatchType, nil
	}
	body, err := json.Marshal(p.patch())
	if err != nil {
		return nil, err
	}
	return client.CoreV1().Nodes().Patch(ctx, p.node.Name, how, body, options)
}

// renew has the plan be for the Node as it is now, or returns errChanged if that is
// not the same in all that the plan rests on.
func (p *Plan) renew(ctx context.Context, client kubernetes.Interface) error {
	node, err := client.CoreV1().Nodes().Get(ctx, p.node.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading it again: %w", err)
	}
	now := workload.NodeOf(node)
	if now.UID != p.node.UID || !now.SameTaints(p.node) {
		return errChanged
	}
	p.node = now
	return nil
}

var errChanged = errors.New("they have changed since they were seen")

// Stale reports whether an error of Apply says that the Node has changed, has
// gone or was replaced since it was seen.
func Stale(err error) bool {
	return errors.Is(err, errChanged) || apierrors.IsNotFound(err) || otherUID(err)
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

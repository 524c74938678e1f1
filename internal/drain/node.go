// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// DeleteNode deletes a Node, unless it is gone or is another one by now: a Node
// of the same name with another UID is left alone.
func DeleteNode(ctx context.Context, client kubernetes.Interface, name string, uid types.UID) error {
	err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(uid))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Node %s: %w", name, err)
	}
	return nil
}

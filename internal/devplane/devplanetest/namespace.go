// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace makes a namespace of a new name and returns the name. When the test
// ends it is deleted; nothing waits for that, since the namespace controller
// takes 5 s before it begins.
func Namespace(tb testing.TB) string {
	tb.Helper()
	c := Client(tb)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(tb.Context(), namespace); err != nil {
		tb.Fatalf("making a namespace: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), Patience)
		defer cancel()
		if err := c.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
			tb.Errorf("deleting the namespace of the test: %v", err)
		}
	})
	return namespace.Name
}

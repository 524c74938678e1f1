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
func Namespace(t testing.TB) string {
	t.Helper()
	c := Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatalf("making a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Patience)
		defer cancel()
		if err := c.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
			t.Errorf("deleting the namespace of the test: %v", err)
		}
	})
	return namespace.Name
}

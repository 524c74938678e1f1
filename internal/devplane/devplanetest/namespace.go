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
	namespace := makeNamespace(tb, c)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), Patience)
		defer cancel()
		if err := c.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
			tb.Errorf("deleting the namespace of the test: %v", err)
		}
	})
	return namespace.Name
}

// LastingNamespace is like Namespace, but the namespace stays as it is when the test
// ends. It is for tests that leave finalizers behind which nobody is there to take off:
// a namespace that cannot end has the namespace controller go through every kind again
// and again, which holds up the deletions that a later test waits for.
func LastingNamespace(tb testing.TB) string {
	tb.Helper()
	return makeNamespace(tb, Client(tb)).Name
}

func makeNamespace(tb testing.TB, c client.Client) *corev1.Namespace {
	tb.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(tb.Context(), namespace); err != nil {
		tb.Fatalf("making a namespace: %v", err)
	}
	return namespace
}

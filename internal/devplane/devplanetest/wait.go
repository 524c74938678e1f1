// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// Patience bounds every wait for what is certain to come on a control plane that
// is well. It is no part of a verdict about time.
const Patience = 3 * time.Minute

// Context returns a context that ends with the test or after Patience.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	tb.Cleanup(cancel)
	return ctx
}

// Await fills object, which need only have its name and namespace, with each
// state that the API server has of it until check returns nil. It watches; when
// Patience ends, the test fails with the last error of check.
func Await(tb testing.TB, object client.Object, check func() error) {
	tb.Helper()
	if err := await.Object(Context(tb), Client(tb), object, check); err != nil {
		tb.Fatal(err)
	}
}

// AwaitGone returns when the object with this name and namespace does not exist.
func AwaitGone(tb testing.TB, object client.Object) {
	tb.Helper()
	if err := await.Gone(Context(tb), Client(tb), object); err != nil {
		tb.Fatal(err)
	}
}

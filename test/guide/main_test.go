// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// patience bounds every wait for what is certain to come; each takes seconds.
const patience = 40 * time.Second

// TestMain starts what the tests share: everything but a provider.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	localclustertest.Main(m, localcluster.Options{WithoutProviders: true})
}

// deadline returns a context for one wait, in a clean-up as well.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

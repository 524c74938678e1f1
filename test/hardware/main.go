// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// Patience bounds every wait for what is certain to come. It is no part of a
// verdict about time.
const Patience = 3 * time.Minute

// rig is that of the test binary; Main sets it once.
var rig *Rig

// Main starts a rig, runs the tests and ends the process. The logs stay for a
// look when a test fails. Where a program is missing it fails and says what to
// run; it never skips.
func Main(m *testing.M, o Options) {
	ctrl.SetLogger(logr.Discard())
	localclustertest.MainWith(m, "hardware", "*/logs", func(dir string) (_ localclustertest.Whole, err error) {
		rig, err = Start(context.Background(), dir, o)
		return rig, err
	})
}

// Get returns the rig that Main started.
func Get(t testing.TB) *Rig {
	t.Helper()
	if rig == nil {
		t.Fatal("there is no rig: call hardware.Main from TestMain")
	}
	return rig
}

// Context returns a context that ends with the test or after Patience.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

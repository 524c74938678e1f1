// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Patience bounds every wait for what is certain to come. It is no part of a
// verdict about time.
const Patience = 3 * time.Minute

// rig is that of the test binary; Main sets it once.
var rig *Rig

// Main starts a rig, runs the tests and ends the process. The logs stay for a
// look when a test fails. Where a program is missing it fails and says what to
// run; it never skips.
func Main(m *testing.M, o Options) { os.Exit(run(m, o)) }

func run(m *testing.M, o Options) (code int) {
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "fivespot-hardware-")
	if err != nil {
		return failed(err)
	}
	defer func() {
		if code == 0 {
			os.RemoveAll(dir)
		} else {
			fmt.Fprintln(os.Stderr, "hardware: the logs are in", dir+"/*/logs")
		}
	}()
	if rig, err = Start(context.Background(), dir, o); err != nil {
		return failed(err)
	}
	code = m.Run()
	if err := errors.Join(rig.Err(), rig.Stop()); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "hardware:", err)
	return 1
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

// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fivespot/fivespot/internal/devplane"
)

// plane is the control plane of the test binary; Main sets it once.
var plane *devplane.Plane

// Setup prepares a control plane before the first test, see CRDs.
type Setup = func(*devplane.Plane) error

// Main starts a control plane, runs each setup in order, then the tests, and
// ends the process. Where there is no bin/devplane it fails and says what to
// run; it never skips.
func Main(m *testing.M, setups ...Setup) {
	MainWith(m, devplane.Options{}, setups...)
}

// MainWith is Main for a control plane with options. Their Dir stays empty: it
// is a temporary one.
func MainWith(m *testing.M, o devplane.Options, setups ...Setup) {
	os.Exit(run(m, o, setups))
}

func run(m *testing.M, o devplane.Options, setups []Setup) (code int) {
	dir, err := os.MkdirTemp("", "devplane-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)

	o.Dir, o.NoFsync = dir, true
	if plane, err = devplane.Start(context.Background(), o); err != nil {
		return failed(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			code = failed(errors.Join(err, fmt.Errorf("tests ended with code %d", code)))
		}
	}()
	for _, setup := range setups {
		if err := setup(plane); err != nil {
			return failed(fmt.Errorf("setting up the control plane: %w", err))
		}
	}
	// A setup may have set one, and the first one counts; without any,
	// controller-runtime complains.
	log.SetLogger(logr.Discard())
	code = m.Run()
	if err := plane.Err(); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "devplanetest:", err)
	return 1
}

// Plane returns the control plane that Main started.
func Plane(tb testing.TB) *devplane.Plane {
	tb.Helper()
	if plane == nil {
		tb.Fatal("there is no control plane: call devplanetest.Main from TestMain")
	}
	return plane
}

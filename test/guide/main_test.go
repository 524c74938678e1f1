// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/localcluster"
)

// patience bounds every wait for what is certain to come; each takes seconds.
const patience = 40 * time.Second

// whole is what the tests share: everything but a provider.
var whole *localcluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "fivespot-guide-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	whole, err = localcluster.Start(ctx, localcluster.Options{Dir: dir, WithoutProviders: true, NoFsync: true})
	if err != nil {
		return failed(err)
	}
	code := m.Run()
	if err := whole.Err(); err != nil {
		code = failed(err)
	}
	if err := whole.Stop(); err != nil {
		code = failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "guide tests:", err) //nolint:forbidigo // as in a main function: there is no test to tell
	return 1
}

// deadline returns a context for one wait, in a clean-up as well.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

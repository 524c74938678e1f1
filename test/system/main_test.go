// SPDX-License-Identifier: Apache-2.0

package system_test

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

// whole is what the tests share.
var whole *localcluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "fivespot-system-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if whole, err = localcluster.Start(ctx, localcluster.Options{Dir: dir}); err != nil {
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
	fmt.Fprintln(os.Stderr, "system tests:", err) //nolint:forbidigo // as in a main function: there is no test to tell
	return 1
}

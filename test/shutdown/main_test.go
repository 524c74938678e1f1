// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/test/hardware"
)

// One reconcile at a time, so that one that waited for a cluster would make all
// the others late.
func TestMain(m *testing.M) {
	hardware.Main(m, hardware.Options{Management: localcluster.Options{ControllerArgs: []string{
		"--concurrency=1",
		"--finalizer-timeout=" + finalizerTimeout.String(),
	}}})
}

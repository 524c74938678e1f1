// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"testing"

	"github.com/fivespot/fivespot/test/hardware"
)

// Two workload clusters, of which one can go away.
func TestMain(m *testing.M) { hardware.Main(m, hardware.Options{Workloads: 2}) }

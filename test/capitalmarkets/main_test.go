// SPDX-License-Identifier: Apache-2.0

// Package capitalmarkets runs the provider of CapitalMarketsSchedule against a
// real API server, as its own service account, by a clock that the test sets.
package capitalmarkets

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) {
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.Deployed("controller/namespace.yaml", "spot-schedule-providers/capital-markets/rbac.yaml"))
}

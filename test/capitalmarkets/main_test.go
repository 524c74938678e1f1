// SPDX-License-Identifier: Apache-2.0

// Package capitalmarkets runs the provider of CapitalMarketsSchedule against a
// real API server, as its own service account, by a clock that the test sets.
package capitalmarkets

import (
	"io/fs"
	"testing"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs, shipped) }

// shipped applies what deploy/ has for the provider's account.
func shipped(plane *devplane.Plane) error {
	for _, file := range []string{"controller/namespace.yaml", "spot-schedule-providers/capital-markets/rbac.yaml"} {
		manifest, err := fs.ReadFile(deploy.FS, file)
		if err != nil {
			return err
		}
		if err := devplanetest.Manifest(manifest)(plane); err != nil {
			return err
		}
	}
	return nil
}

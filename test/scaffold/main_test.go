// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"testing"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs, namespace) }

// namespace makes the one that 5-Spot and its providers run in.
func namespace(p *devplane.Plane) error {
	manifest, err := deploy.FS.ReadFile("controller/namespace.yaml")
	if err != nil {
		return err
	}
	return devplanetest.Manifest(manifest)(p)
}

// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/test/hardware"
)

func TestMain(m *testing.M) {
	hardware.Main(m, hardware.Options{Management: localcluster.Options{WithoutCAPI: true}})
}

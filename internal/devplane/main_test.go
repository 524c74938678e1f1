// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs) }

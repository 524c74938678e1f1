// SPDX-License-Identifier: Apache-2.0

package localcluster_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

func TestMain(m *testing.M) { localclustertest.Main(m, localcluster.Options{}) }

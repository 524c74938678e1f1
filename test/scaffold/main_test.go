// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"testing"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// What runs is `fivespot up --without-capi`, less the shipped providers.
func TestMain(m *testing.M) {
	localclustertest.Main(m, localcluster.Options{WithoutCAPI: true, WithoutProviders: true})
}

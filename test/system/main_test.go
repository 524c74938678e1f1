// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	localclustertest.Main(m, localcluster.Options{})
}

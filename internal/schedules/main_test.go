// SPDX-License-Identifier: Apache-2.0

package schedules_test

import (
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // client-go reports each refusal that these tests ask for
	devplanetest.Main(m)
}

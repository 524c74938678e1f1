// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process/processtest"
)

func TestListensOnLoopbackOnly(t *testing.T) {
	addresses := processtest.Listening(t, devplanetest.Plane(t).PID())
	if len(addresses) == 0 {
		t.Error("it seems to listen nowhere")
	}
	for _, address := range addresses {
		if !address.IsLoopback() {
			t.Errorf("it listens on %s", address)
		}
	}
}

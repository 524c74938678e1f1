// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fivespot/fivespot/internal/controller/scheduledmachine"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// fiveSpot is the 5-Spot controller, which runs while a test needs it.
var fiveSpot struct {
	sync.Mutex

	users int
	stop  func() error
}

// runFiveSpot has the controller run, as its own account, until the end of the test.
func runFiveSpot(t *testing.T) {
	t.Helper()
	fiveSpot.Lock()
	defer fiveSpot.Unlock()
	if fiveSpot.users == 0 {
		fiveSpot.stop = startFiveSpot(t, accountConfig(t, "5spot-system", "5spot-controller"))
	}
	fiveSpot.users++
	t.Cleanup(func() {
		fiveSpot.Lock()
		defer fiveSpot.Unlock()
		if fiveSpot.users--; fiveSpot.users == 0 {
			if err := fiveSpot.stop(); err != nil {
				t.Errorf("the controller ended with: %v", err)
			}
		}
	})
}

func startFiveSpot(t *testing.T, config *rest.Config) (stop func() error) {
	t.Helper()
	scheme, err := devplanetest.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := manager.New(config, manager.Options{
		Scheme: scheme, Client: scheduledmachine.ClientOptions(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := scheduledmachine.Setup(ctx, mgr, scheduledmachine.Options{}); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

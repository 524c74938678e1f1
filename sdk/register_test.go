// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

func TestAProviderRunsInAManagerOfItsAuthors(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	mgr, err := ctrl.NewManager(account(t), ctrl.Options{
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := manual.Provider().Register(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the manager ended with: %v", err)
	}
}

func TestAStopLeavesNothingRunning(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	once := func() {
		program := start(t, sdk.Settings{}, manual.Provider())
		settle(t, namespace)
		program.stop()
	}
	once() // what the process keeps for good, such as idle connections, is made now
	before := goleak.IgnoreCurrent()
	once()
	goleak.VerifyNone(t, before)
}

// SPDX-License-Identifier: Apache-2.0

// Command manual-controller-runtime is a provider of the guide's ManualSchedule
// on controller-runtime alone. Of 5-Spot it imports nothing: the contract is
// JSON, and docs/contract.md is all that there is to know.
package main

import (
	"errors"
	"flag"
	"os"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	metrics := flag.String("metrics-bind-address", ":8080", "address of /metrics; 0 for none")
	health := flag.String("health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 for none")
	flag.Parse() // controller-runtime adds --kubeconfig
	ctrl.SetLogger(zap.New())

	if err := run(*metrics, *health); err != nil {
		ctrl.Log.Error(err, "the provider ends")
		os.Exit(1)
	}
}

func run(metrics, health string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                metricsserver.Options{BindAddress: metrics},
		HealthProbeBindAddress: health,
		// Objects without a Go type are otherwise asked of the API server each time.
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return err
	}
	provider := &reconciler{client: manager.GetClient(), clock: clock.RealClock{}}
	// No predicate: a status that somebody else changed is put right as well.
	// Our own writes come back, too, and are found to need no other.
	err = errors.Join(
		ctrl.NewControllerManagedBy(manager).For(newManualSchedule()).Complete(provider),
		manager.AddHealthzCheck("alive", healthz.Ping),
		manager.AddReadyzCheck("alive", healthz.Ping),
	)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

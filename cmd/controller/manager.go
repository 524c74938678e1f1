// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/controller/scheduledmachine"
	"github.com/fivespot/fivespot/internal/version"
)

// shutdownTimeout bounds the wait for what is under way when the program is told
// to stop. It is shorter than the pod's terminationGracePeriodSeconds, so that
// the lease is let go in any case.
const shutdownTimeout = 20 * time.Second

func newManager(o *options) (manager.Manager, error) {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.zap)))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering API types: %w", err)
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	config.QPS = -1 // the API server's priority and fairness does the limiting
	mgr, err := manager.New(config, manager.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client:                        scheduledmachine.ClientOptions(),
		Metrics:                       metricsserver.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress:        o.healthAddress,
		LeaderElection:                o.replicas.electsLeader(),
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.replicas.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.replicas.leaseDuration,
		RenewDeadline:                 &o.replicas.renewDeadline,
		RetryPeriod:                   &o.replicas.retryPeriod,
		GracefulShutdownTimeout:       new(shutdownTimeout),
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the manager: %w", err)
	}
	for path, add := range map[string]func(string, healthz.Checker) error{
		"healthz": mgr.AddHealthzCheck, "readyz": mgr.AddReadyzCheck,
	} {
		if err := add(path, healthz.Ping); err != nil {
			return nil, fmt.Errorf("adding /%s: %w", path, err)
		}
	}
	return mgr, nil
}

func addController(ctx context.Context, mgr manager.Manager, o *options) error {
	replica, err := o.replicas.addReplica(mgr)
	if err != nil {
		return err
	}
	gate := o.replicas.gate()
	collectors := []prometheus.Collector{gate, leading(mgr, replica), info(version.Version())}
	if replica != nil {
		collectors = append(collectors, replica)
	}
	for _, collector := range collectors {
		if err := metrics.Registry.Register(collector); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return scheduledmachine.Setup(ctx, mgr, scheduledmachine.Options{
		AllowedGroups:    o.allowed,
		Metrics:          metrics.Registry,
		Concurrency:      o.concurrency,
		FinalizerTimeout: o.finalizer,
		Gate:             gate,
		Shards:           replica,
	})
}

// info tells the version of the program.
func info(program string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "fivespot_controller_info",
		Help:        "1, with the version of the controller.",
		ConstLabels: prometheus.Labels{"version": program},
	}, func() float64 { return 1 })
}

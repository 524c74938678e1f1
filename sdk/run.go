// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // an image without files has no time zones

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Main is a whole program: it parses the flags (see [Settings.BindFlags]), runs
// the providers until the process is told to stop (SIGINT or SIGTERM), and ends
// the process. The exit status is 0 after a stop, 1 when it could not start or
// go on, 2 when it was called wrongly.
func Main(providers ...*Provider) {
	os.Exit(run(os.Args[0], os.Args[1:], os.Stderr, providers)) //nolint:revive,forbidigo // Main is a main function
}

func run(program string, args []string, stderr io.Writer, providers []*Provider) int {
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	settings := Settings{}
	settings.BindFlags(flags)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s takes flags only, and was given %q\n", program, flags.Args())
		return 2
	}
	if err := Run(ctrl.SetupSignalHandler(), settings, providers...); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Run runs the providers until ctx is done and then returns nil, after giving
// back the lease. It returns an error when they could not be started, or could
// not go on: the API server cannot be reached, an address is taken, the lease
// is lost. What can come right by itself is waited for instead: a CRD that is
// not installed yet, a right that is not granted yet.
//
// Run serves /healthz, /readyz and /metrics. It needs the rights that
// [Provider.Rules] of each provider returns; with leader election also to get,
// create and update leases in the namespace of the lease.
func Run(ctx context.Context, settings Settings, providers ...*Provider) error {
	if err := checkProviders(providers); err != nil {
		return err
	}
	shared := settings.Logger.GetSink() == nil
	settings.setDefaults()
	if shared {
		// The process is ours, so the libraries log where we log.
		ctrl.SetLogger(settings.Logger)
		klog.SetLogger(settings.Logger)
	}
	mgr, err := newManager(settings, providers)
	if err != nil {
		return err
	}
	var workers []*worker
	for _, provider := range providers {
		w, err := provider.addTo(mgr)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	if err := addHealthServer(ctx, mgr, settings.HealthProbeBindAddress, workers); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the providers: %w", err)
	}
	return nil
}

func checkProviders(providers []*Provider) error {
	if len(providers) == 0 {
		return errors.New("there is no provider to run")
	}
	seen := map[string]bool{}
	for _, provider := range providers {
		if provider.mistake != nil {
			return fmt.Errorf("provider of %s: %w", provider.kind.Kind, provider.mistake)
		}
		if seen[provider.kind.Kind] {
			return fmt.Errorf("there are two providers of %s", provider.kind.Kind)
		}
		seen[provider.kind.Kind] = true
	}
	return nil
}

func newManager(settings Settings, providers []*Provider) (manager.Manager, error) {
	config, err := settings.restConfig()
	if err != nil {
		return nil, err
	}
	if config.QPS == 0 {
		// The API server's priority and fairness keeps us in bounds. A bound of
		// our own would make a boundary that many schedules share come late.
		config.QPS = -1
	}
	options := manager.Options{
		Scheme:                 runtime.NewScheme(),
		Logger:                 settings.Logger,
		Metrics:                metricsserver.Options{BindAddress: settings.MetricsBindAddress},
		HealthProbeBindAddress: "0", // see addHealthServer
	}
	if settings.LeaderElect {
		lease, err := newLease(config, settings, providers)
		if err != nil {
			return nil, err
		}
		options.LeaderElection = true
		options.LeaderElectionResourceLockInterface = lease
		options.LeaderElectionReleaseOnCancel = true
		options.RenewDeadline = new(renewDeadline)
	}
	mgr, err := manager.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("preparing to run: %w", err)
	}
	return mgr, nil
}

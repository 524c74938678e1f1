// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/fivespot/fivespot/internal/capi"
)

// options are what the flags say.
type options struct {
	metricsAddress          string
	healthAddress           string
	leaderElect             bool
	leaderElectionNamespace string
	concurrency             int
	allowed                 capi.AllowedGroups
	zap                     zap.Options
}

func defaultOptions() *options {
	return &options{
		metricsAddress:          ":8080",
		healthAddress:           ":8081",
		leaderElectionNamespace: "5spot-system",
		concurrency:             10,
		allowed:                 capi.DefaultAllowedGroups,
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", o.metricsAddress, `Address to serve /metrics on; "0" serves none.`)
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", o.healthAddress, `Address to serve /healthz and /readyz on; "0" serves none.`)
	flags.BoolVar(&o.leaderElect, "leader-elect", o.leaderElect, "Work only while holding the lease, so that a standby can take over.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", o.leaderElectionNamespace, "Namespace of the lease.")
	flags.IntVar(&o.concurrency, "concurrency", o.concurrency, "How many ScheduledMachines to work on at once.")
	flags.StringSliceVar(&o.allowed.Bootstrap, "allowed-bootstrap-groups", o.allowed.Bootstrap, "API groups that spec.bootstrapSpec may use.")
	flags.StringSliceVar(&o.allowed.Infrastructure, "allowed-infrastructure-groups", o.allowed.Infrastructure, "API groups that spec.infrastructureSpec may use.")

	goFlags := flag.NewFlagSet("", flag.ContinueOnError)
	config.RegisterFlags(goFlags) // --kubeconfig
	o.zap.BindFlags(goFlags)
	flags.AddGoFlagSet(goFlags)
}

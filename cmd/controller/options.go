// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/controller/scheduledmachine"
)

// options are what the flags say.
type options struct {
	metricsAddress string
	healthAddress  string
	concurrency    int
	finalizer      time.Duration
	allowed        capi.AllowedGroups
	replicas       replicaOptions
	zap            zap.Options
}

func defaultOptions() *options {
	return &options{
		metricsAddress: ":8080",
		healthAddress:  ":8081",
		concurrency:    10,
		finalizer:      scheduledmachine.DefaultFinalizerTimeout,
		allowed:        capi.DefaultAllowedGroups,
		replicas:       defaultReplicaOptions(),
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", o.metricsAddress, `Address to serve /metrics on; "0" serves none.`)
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", o.healthAddress, `Address to serve /healthz and /readyz on; "0" serves none.`)
	flags.IntVar(&o.concurrency, "concurrency", o.concurrency, "How many ScheduledMachines to work on at once.")
	flags.DurationVar(&o.finalizer, "finalizer-timeout", o.finalizer, "How long after spec.gracefulShutdownTimeout a deleted ScheduledMachine is let go though not everything of it is gone.")
	flags.StringSliceVar(&o.allowed.Bootstrap, "allowed-bootstrap-groups", o.allowed.Bootstrap, "API groups that spec.bootstrapSpec may use.")
	flags.StringSliceVar(&o.allowed.Infrastructure, "allowed-infrastructure-groups", o.allowed.Infrastructure, "API groups that spec.infrastructureSpec may use.")

	o.replicas.addFlags(flags)
	goFlags := flag.NewFlagSet("", flag.ContinueOnError)
	config.RegisterFlags(goFlags) // --kubeconfig
	o.zap.BindFlags(goFlags)
	flags.AddGoFlagSet(goFlags)
}

// validate returns an error that says which flag to change.
func (o *options) validate() error {
	switch {
	case o.concurrency < 1:
		return fmt.Errorf("--concurrency=%d must be at least 1", o.concurrency)
	case o.finalizer <= 0:
		return fmt.Errorf("--finalizer-timeout=%s must be more than zero", o.finalizer)
	}
	if err := validateGroups("--allowed-bootstrap-groups", o.allowed.Bootstrap); err != nil {
		return err
	}
	if err := validateGroups("--allowed-infrastructure-groups", o.allowed.Infrastructure); err != nil {
		return err
	}
	return o.replicas.validate()
}

// validateGroups refuses a list by which no machine could be made, and a name
// that no API group can have: it would allow nothing, silently.
func validateGroups(flagName string, groups []string) error {
	if len(groups) == 0 {
		return fmt.Errorf("%s must name at least one API group: no machine can be made without", flagName)
	}
	for _, group := range groups {
		if problems := validation.IsDNS1123Subdomain(group); len(problems) > 0 {
			return fmt.Errorf("%s: %q is not the name of an API group: %s", flagName, group, strings.Join(problems, "; "))
		}
	}
	return nil
}

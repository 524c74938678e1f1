// SPDX-License-Identifier: Apache-2.0

// Package up is the verb `fivespot up`: it runs all of 5-Spot on this machine
// until it is told to stop.
//
// It imports internal/localcluster and what a command line needs.
package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/process"
)

const long = `Runs all of 5-Spot on this machine: a Kubernetes control plane, the real Cluster
API with machines that exist in memory only, one workload cluster, the
ScheduledMachine controller and the providers of the shipped kinds. Everything listens
on loopback, at free ports.

DIR keeps the data, so that a later start goes on where this one ended:
  DIR/kubeconfig    for kubectl, as an administrator
  DIR/logs/         one file for each part
  DIR/credentials/  of the service accounts that the controller and the provider run as

Ctrl-C stops everything, in the reverse order of its start.`

const example = `  fivespot up
  fivespot up --dir /tmp/5spot --without-capi   # for those who write a provider
  fivespot up --kubeconfig ~/.kube/config       # our parts only, against that cluster`

// NewCommand returns the command.
func NewCommand(streams cli.Streams, c clock.Clock) *cobra.Command {
	var o localcluster.Options
	command := &cobra.Command{
		Use:     "up",
		Short:   "Run all of 5-Spot on this machine",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.Clock = c
			return run(command.Context(), o, streams)
		},
	}
	AddFlags(command, &o)
	return command
}

// AddFlags adds the flags that say what to run and where.
func AddFlags(command *cobra.Command, o *localcluster.Options) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.Dir, "dir", "", DirUsage)
	flags.BoolVar(&o.WithoutCAPI, "without-capi", false, "leave Cluster API, and so the machines, out")
	flags.BoolVar(&o.WithoutController, "without-controller", false, "leave the controller out, to run it yourself")
	flags.BoolVar(&o.WithoutProviders, "without-providers", false, "leave the schedule providers out, to run them yourself")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "run only our parts, against the cluster of this file: applies the CRDs and the RBAC and starts the controller and the provider under their service accounts")
}

func run(ctx context.Context, o localcluster.Options, streams cli.Streams) error {
	cluster, err := Start(ctx, o, streams)
	if err != nil {
		return stopped(ctx, err)
	}
	fmt.Fprintf(streams.Out, "\nEverything runs. Stop it with Ctrl-C.\n  kubeconfig  %s\n  logs        %s\n",
		cluster.Kubeconfig(), cluster.Logs())
	return Wait(ctx, cluster, streams)
}

// Start starts a cluster and prints a line for each part. When a part ends on
// the way, it prints the end of that part's log.
func Start(ctx context.Context, o localcluster.Options, streams cli.Streams) (*localcluster.Cluster, error) {
	if o.Dir == "" {
		dir, err := defaultDir()
		if err != nil {
			return nil, err
		}
		o.Dir = dir
	}
	o.Ready = func(r localcluster.PartReady) { fmt.Fprintln(streams.Out, readyLine(r)) }
	cluster, err := localcluster.Start(ctx, o)
	if err != nil {
		showLogEnd(streams.Err, err)
		return nil, err
	}
	return cluster, nil
}

// Wait returns when ctx ends or a part has ended by itself; everything is
// stopped then. In the second case it prints the end of the part's log, and the
// error names the part.
func Wait(ctx context.Context, cluster *localcluster.Cluster, streams cli.Streams) error {
	select {
	case <-ctx.Done():
		fmt.Fprintln(streams.Out, "\nStopping.")
	case <-cluster.Done():
	}
	err := cluster.Err()
	if err != nil {
		showLogEnd(streams.Err, err)
	}
	return errors.Join(err, cluster.Stop())
}

// stopped takes the word of the user to stop, during the start, for what it is.
func stopped(ctx context.Context, err error) error {
	var part *localcluster.PartError
	if ctx.Err() != nil && !errors.As(err, &part) {
		return nil
	}
	return err
}

func readyLine(r localcluster.PartReady) string {
	line := fmt.Sprintf("%-38s ready in %5.1fs", r.Name, r.After.Round(100*time.Millisecond).Seconds())
	if r.Detail != "" {
		line += "   " + r.Detail
	}
	return line
}

// logLines is how much of the log of a part that ended is shown.
const logLines = 20

func showLogEnd(out io.Writer, err error) {
	var exit *process.ExitError
	if !errors.As(err, &exit) {
		return
	}
	fmt.Fprintf(out, "\nThe end of %s:\n", exit.LogPath)
	for _, line := range exit.LogEnd(logLines) {
		fmt.Fprintln(out, "  "+line)
	}
	fmt.Fprintln(out)
}

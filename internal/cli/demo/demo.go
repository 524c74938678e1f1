// SPDX-License-Identifier: Apache-2.0

// Package demo is the verb `fivespot demo`: it runs all of 5-Spot, plays the
// guide's steps and says what happens.
//
// It imports internal/cli/up for the running and internal/await for the watching.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/up"
	"github.com/fivespot/fivespot/internal/localcluster"
)

const long = `Runs all of 5-Spot on this machine, as ` + "`fivespot up`" + ` does, and plays the guide:
a schedule is off and there is no machine; the schedule goes on and a machine
comes up; the schedule goes off and the machine is drained and gone. Each line
carries the seconds since the story began. Then everything stays up.`

// NewCommand returns the command.
func NewCommand(streams cli.Streams, c clock.Clock) *cobra.Command {
	var (
		o    localcluster.Options
		exit bool
	)
	command := &cobra.Command{
		Use:   "demo",
		Short: "Run all of 5-Spot and show a machine come and go",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.Clock = c
			return run(command.Context(), o, exit, streams, c)
		},
	}
	command.Flags().StringVar(&o.Dir, "dir", "", up.DirUsage)
	command.Flags().BoolVar(&exit, "exit", false, "stop after the story; the exit status says whether it went well")
	return command
}

func run(ctx context.Context, o localcluster.Options, exit bool, streams cli.Streams, c clock.Clock) error {
	cluster, err := up.Start(ctx, o, streams)
	if err != nil {
		return err
	}
	if err := play(ctx, cluster, streams, c); err != nil {
		return errors.Join(err, cluster.Stop())
	}
	if exit {
		return cluster.Stop()
	}
	next(streams.Out, cluster.Kubeconfig(), findKubectl(exec.LookPath))
	return up.Wait(ctx, cluster, streams)
}

// play plays the story; it ends early, and badly, when a part of the cluster ends.
func play(ctx context.Context, cluster *localcluster.Cluster, streams cli.Streams, c clock.PassiveClock) error {
	s, err := readSample()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(cluster.Context(), func() { cancel(cluster.Err()) }) //nolint:contextcheck // ends with the cluster, whoever asks for the story
	defer stop()

	w := &world{changed: func(*state) {}}
	var watching sync.WaitGroup
	watching.Go(func() { w.watch(ctx, cluster.Client(), s) })
	defer watching.Wait()
	defer cancel(nil)

	fmt.Fprintln(streams.Out)
	t := &teller{out: streams.Out, clock: c, begin: c.Now()}
	for _, ch := range story(s) {
		if err := ch.play(ctx, cluster.Client(), w, t); err != nil {
			t.say("  this went wrong: %v", err)
			return fmt.Errorf("the guide was not played to its end: %w", err)
		}
	}
	return nil
}

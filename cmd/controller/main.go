// SPDX-License-Identifier: Apache-2.0

// Command controller makes the machines of ScheduledMachines follow their schedules.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

func main() {
	if err := newCommand().ExecuteContext(signals.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	o := defaultOptions()
	command := &cobra.Command{
		Use:           "controller",
		Short:         "Makes the machines of ScheduledMachines follow their schedules",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := run(command.Context(), o); err != nil {
				fmt.Fprintln(command.ErrOrStderr(), "controller:", err)
				return err
			}
			return nil
		},
	}
	o.addFlags(command.Flags())
	return command
}

// run runs the controller until the context ends.
func run(ctx context.Context, o *options) error {
	mgr, err := newManager(o)
	if err != nil {
		return err
	}
	if err := addController(ctx, mgr, o); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controller: %w", err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Command controller makes the machines of ScheduledMachines follow their schedules.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/fivespot/fivespot/internal/version"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

const long = `Makes the machines of ScheduledMachines follow their schedules.

Exit status:
  0  it was told to stop
  1  it could not start, or not go on
  2  it was called wrongly: a flag that it does not have, or with a value that it cannot have`

func main() {
	os.Exit(execute(signals.SetupSignalHandler(), newCommand(), os.Args[1:], os.Stderr))
}

// execute runs the command and returns the exit status.
func execute(ctx context.Context, command *cobra.Command, args []string, stderr io.Writer) int {
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "controller:", err)
	if errors.As(err, new(*usageError)) {
		return exitUsage
	}
	return exitFailed
}

// usageError says that the program was called wrongly.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// misused makes an error one about how the program was called; nil stays nil.
func misused(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

func newCommand() *cobra.Command {
	o := defaultOptions()
	command := &cobra.Command{
		Use:           "controller",
		Short:         "Makes the machines of ScheduledMachines follow their schedules",
		Long:          long,
		Version:       version.String(),
		Args:          func(command *cobra.Command, args []string) error { return misused(cobra.NoArgs(command, args)) },
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return misused(err)
			}
			return run(command.Context(), o)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misused(err) })
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

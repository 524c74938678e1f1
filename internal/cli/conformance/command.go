// SPDX-License-Identifier: Apache-2.0

// Package conformance is the verb `fivespot conformance`: it checks a schedule
// provider, in any language, against a cluster in which it runs.
//
// It imports sdk/sdktest/conformance, client libraries and what a command line
// needs.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

const long = `Checks a schedule provider from outside, against a cluster in which it runs,
whatever language it is written in. Each check points to a rule of the contract,
and says what to do about a failure.

Without manifests it looks at the CustomResourceDefinition; with --service-account
at the rights of the account; with --apply and --apply-off at what the provider
does. What was not given is skipped, and the result then is incomplete, not passed.

It works in namespaces that it makes, and deletes them in the end, also when it is
interrupted. It takes an administrator: it makes namespaces and asks for reviews
of access.

Exit status:
  0  passed
  1  a required check failed, or a recommended one with --strict
  2  it was called wrongly, the cluster could not be worked with, or it was stopped
  3  incomplete: a required check was skipped (0 with --allow-incomplete)`

const example = `  fivespot conformance --kind TideSchedule

  fivespot conformance --kind TideSchedule \
    --apply high.yaml --apply-off low.yaml --apply-invalid wrong.yaml \
    --service-account tides/tide-provider --pod-selector app=tide-provider \
    --results conformance.json

  fivespot conformance --kind TideSchedule --apply high.yaml --apply-off low.yaml \
    --only idle-quiet --idle-for 5m`

// What the command ends with, beside 0.
const (
	statusFailed     = 1
	statusTrouble    = 2
	statusIncomplete = 3
)

// NewCommand returns the command. The clock is that by which the provider's
// reactions are judged.
func NewCommand(streams cli.Streams, c clock.Clock) *cobra.Command {
	f := &flags{}
	command := &cobra.Command{
		Use:     "conformance --kind KIND",
		Short:   "Check a provider, in any language, against the contract",
		Long:    long,
		Example: example,
		Args: func(command *cobra.Command, args []string) error {
			return trouble(cobra.NoArgs(command, args))
		},
		RunE: func(command *cobra.Command, _ []string) error {
			if f.list {
				return list(streams.Out)
			}
			return run(command.Context(), f, streams, c)
		},
	}
	f.add(command.Flags())
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(err) })
	return command
}

// trouble is an error that says nothing about the provider.
func trouble(err error) error {
	if err == nil {
		return nil
	}
	return &cli.StatusError{Status: statusTrouble, Err: err}
}

func run(ctx context.Context, f *flags, streams cli.Streams, c clock.Clock) error {
	write, err := writerFor(f.output)
	if err != nil {
		return trouble(err)
	}
	options, err := f.options(streams)
	if err != nil {
		return trouble(err)
	}
	options.Clock = c
	text := conformance.NewTextWriter(streams.Out)
	if f.output == outputText {
		options.Progress = text.Result
	}
	report, stopped := conformance.Run(ctx, options)
	if stopped != nil {
		stopped = trouble(explained(ctx, stopped))
	}
	if len(report.Results) < len(conformance.Checks()) {
		return stopped
	}
	if err := write(text, &report, streams.Out); err != nil {
		return trouble(err)
	}
	if f.results != "" {
		if err := writeFile(f.results, &report); err != nil {
			return trouble(err)
		}
	}
	return cmp.Or(stopped, status(&report))
}

// explained puts an error into the words of the command line.
func explained(ctx context.Context, err error) error {
	leftover, stays := errors.AsType[*conformance.LeftoverError](err)
	option, wrong := errors.AsType[*conformance.OptionError](err)
	flag, known := "", false
	if wrong {
		flag, known = flagOf[option.Option]
	}
	switch {
	case known:
		err = fmt.Errorf("--%s: %s", flag, option.Problem)
	case ctx.Err() == nil:
		return err
	case stays:
		err = errors.New("stopped before the end")
	default:
		return errors.New("stopped before the end; what was made for the checks is deleted")
	}
	if stays {
		return errors.Join(err, leftover)
	}
	return err
}

// status is the exit status that goes with the outcome; what there is to say has
// been said by the output.
func status(report *conformance.Report) error {
	switch report.Outcome {
	case conformance.Passed:
		return nil
	case conformance.Incomplete:
		return &cli.StatusError{Status: statusIncomplete}
	default:
		return &cli.StatusError{Status: statusFailed}
	}
}

func writeFile(path string, report *conformance.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	return errors.Join(report.WriteJSON(file), file.Close())
}

// SPDX-License-Identifier: Apache-2.0

// Package lint is the verb `fivespot lint`: it says what is wrong with the
// schedule objects of manifests, and what is right and yet surprising.
//
// It imports internal/cli/offline and what a command line needs.
package lint

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/manifest"
)

const long = `Checks the schedules in manifests, without a cluster: against the schema that an
API server would hold them against, and as their providers read them. Each
finding is one line:

  FILE:LINE: error|warning: OBJECT: FIELD: what is wrong

An error is refused or ignored somewhere; a warning is accepted and surprises
many. With an error the exit status is 1. What is fine is passed in silence.`

const example = `  fivespot lint -f schedule.yaml
  fivespot lint -f schedules/*.yaml
  kustomize build . | fivespot lint -f -`

// NewCommand returns the command. The clock says what lies in the past.
func NewCommand(streams cli.Streams, c clock.PassiveClock) *cobra.Command {
	var files []string
	command := &cobra.Command{
		Use:     "lint -f FILE...",
		Short:   "Say what is wrong or surprising in schedule manifests",
		Long:    long,
		Example: example,
		RunE: func(_ *cobra.Command, args []string) error {
			return run(append(files, args...), c.Now(), streams)
		},
	}
	command.Flags().StringArrayVarP(&files, "filename", "f", nil, "manifest to check, - for standard input; more may follow")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err) // The flag is defined one line above.
	}
	return command
}

func run(files []string, now time.Time, streams cli.Streams) error {
	errs := 0
	for _, file := range files {
		found, err := checkFile(file, now, streams)
		if parse := (*manifest.ParseError)(nil); errors.As(err, &parse) {
			fmt.Fprintf(streams.Out, "%s:%d: error: %s\n", parse.File, parse.Line, parse.Problem)
			errs++
			continue
		}
		if err != nil {
			return err
		}
		for _, finding := range found {
			fmt.Fprintln(streams.Out, finding)
		}
		errs += found.Errors()
	}
	if errs > 0 {
		return fmt.Errorf("%d error%s found", errs, strings.Repeat("s", min(errs-1, 1)))
	}
	return nil
}

func checkFile(file string, now time.Time, streams cli.Streams) (Findings, error) {
	objects, err := manifest.ReadFile(file, streams.In)
	if err != nil {
		return nil, err
	}
	var all Findings
	for _, object := range objects {
		found, err := Check(object, now)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

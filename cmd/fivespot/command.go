// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/calendars"
	"github.com/fivespot/fivespot/internal/cli/conformance"
	"github.com/fivespot/fivespot/internal/cli/demo"
	"github.com/fivespot/fivespot/internal/cli/lint"
	"github.com/fivespot/fivespot/internal/cli/preview"
	"github.com/fivespot/fivespot/internal/cli/provider"
	"github.com/fivespot/fivespot/internal/cli/up"
	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/internal/version"
)

// newCommand returns the root command. program is the name it was called by.
func newCommand(program string, streams cli.Streams, c clock.Clock) *cobra.Command {
	root := &cobra.Command{
		Use:           "fivespot",
		Short:         "Machines that exist while their schedule is active",
		Version:       version.String(version.Zones(schedule.ZoneDataVersion())),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fivespot"}
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddCommand(
		calendars.NewCommand(streams, c),
		conformance.NewCommand(streams, c),
		demo.NewCommand(streams, c),
		up.NewCommand(streams, c),
		preview.NewCommand(streams, c),
		lint.NewCommand(streams, c),
		provider.NewCommand(streams),
	)
	return root
}

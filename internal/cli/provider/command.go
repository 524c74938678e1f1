// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/spf13/cobra"

	"github.com/fivespot/fivespot/internal/cli"
)

// defaultNamespace is where 5-Spot and the providers that it ships run.
const defaultNamespace = "5spot-system"

// NewCommand returns the verb.
func NewCommand(streams cli.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "provider",
		Short: "Begin a schedule kind of your own",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newInitCommand(streams, goModTidy), newManifestsCommand(streams))
	return command
}

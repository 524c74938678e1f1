// SPDX-License-Identifier: Apache-2.0

// Command provider runs one or more of the schedule kinds that 5-Spot ships. It
// watches the kinds that are named in --kinds and no others, so its account
// needs rights on those alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/schedule"
	"github.com/fivespot/fivespot/internal/version"
	"github.com/fivespot/fivespot/providers"
	"github.com/fivespot/fivespot/sdk"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	flags.SetOutput(stderr)
	settings := sdk.Settings{}
	settings.BindFlags(flags)
	kinds := flags.String("kinds", "", "Kinds to run, separated by commas, of: "+names(providers.All())+".")
	showVersion := flags.Bool("version", false, "Print the version and end.")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "provider takes flags only, and was given %q\n", flags.Args())
		return exitUsage
	case *showVersion:
		fmt.Fprintln(stdout, "provider version", version.String(version.Zones(schedule.ZoneDataVersion())))
		return 0
	}
	chosen, err := choose(providers.All(), *kinds)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	if err := sdk.Run(ctx, settings, chosen...); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailed
	}
	return 0
}

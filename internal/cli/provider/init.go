// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/version"
)

const initLong = `Writes a provider for a schedule kind of your own, as a Go module: the type of the
kind, the function that decides, tests, the CustomResourceDefinition, least-privilege
RBAC, a hardened Deployment, a Containerfile and a Makefile. It builds and passes its
tests as it is. Its README says what to edit first.

NAME is the kind, as TideSchedule or as tide-schedule. Nothing is written over: the
directory has to be new or empty.`

const initExample = `  fivespot provider init TideSchedule --module github.com/acme/tide-schedule
  fivespot provider init tide-schedule --module example.com/tides --dir ./tides`

// initOptions are the flags of the command.
type initOptions struct {
	own       chosen
	module    string
	dir       string
	namespace string
	checkout  string
	// tidy completes the module in a directory.
	tidy func(ctx context.Context, dir string) error
}

func newInitCommand(streams cli.Streams, tidy func(context.Context, string) error) *cobra.Command {
	o := initOptions{tidy: tidy}
	command := &cobra.Command{
		Use:     "init NAME --module MODULE",
		Short:   "Write a complete provider in Go",
		Long:    initLong,
		Example: initExample,
		Args:    oneName,
		RunE: func(command *cobra.Command, args []string) error {
			return initialize(command.Context(), streams, args[0], o)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.module, "module", "", "path of the Go module (required)")
	flags.StringVar(&o.dir, "dir", "", "directory to write to (default: the kind in words, here)")
	flags.StringVar(&o.namespace, "namespace", defaultNamespace, "namespace that the provider runs in")
	flags.StringVar(&o.own.plural, "plural", "", "plural of the kind (default: the regular one)")
	flags.StringVar(&o.own.shortName, "short-name", "", "short name of the kind (default: its initials, where they are free)")
	flags.StringVar(&o.checkout, "sdk", "", "checkout of 5-Spot to take the SDK from (default: the release of this program, or the checkout that it is in)")
	return command
}

// oneName says what a command without a name, or with two, lacks.
func oneName(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one name of a kind, as in init TideSchedule; there are %d", len(args))
	}
	return nil
}

// initialize writes a provider and says what to do with it.
func initialize(ctx context.Context, streams cli.Streams, name string, o initOptions) error {
	s, err := newScaffold(name, o)
	if err != nil {
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	dir := o.dir
	if dir == "" {
		dir = s.Words
	}
	if err := writeTo(dir, files); err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, nextSteps, s.Kind, len(files), dir)
	if err := o.tidy(ctx, dir); err != nil {
		return fmt.Errorf("the files are written, but the versions of their modules could not be found: %w; `make` tries it again", err)
	}
	return nil
}

const nextSteps = `Wrote the provider of %[1]s: %[2]d files in %[3]s.

  cd %[3]s
  make test    its tests
  make run     as a process, against ` + "`fivespot up`" + ` in another terminal

README.md says what to edit first.
`

func newScaffold(name string, o initOptions) (scaffold, error) {
	n, err := deriveNames(name, o.own)
	if err != nil {
		return scaffold{}, err
	}
	if n.Kind == "Evaluate" {
		return scaffold{}, fmt.Errorf("%s is the name of the function that decides: choose another one", n.Kind)
	}
	if o.module == "" {
		return scaffold{}, fmt.Errorf("name the Go module with --module, as in --module example.com/%s", n.Words)
	}
	if err := module.CheckImportPath(o.module); err != nil {
		return scaffold{}, fmt.Errorf("--module %q is no path of a Go module: %w", o.module, err)
	}
	if o.module == sdkModule {
		return scaffold{}, fmt.Errorf("--module %q is the module of 5-Spot itself: name one of your own", o.module)
	}
	if faults := validation.IsDNS1123Label(o.namespace); len(faults) > 0 {
		return scaffold{}, fmt.Errorf("--namespace %q: %s", o.namespace, strings.Join(faults, "; "))
	}
	executable, err := os.Executable()
	if err != nil {
		return scaffold{}, fmt.Errorf("finding this program: %w", err)
	}
	from, err := findSDK(o.checkout, version.Version(), executable)
	if err != nil {
		return scaffold{}, err
	}
	return scaffold{
		names: n, Module: o.module, Namespace: o.namespace, Image: imageOf(o.module, n), SDK: from,
	}, nil
}

var onGitHub = regexp.MustCompile(`^github\.com/([^/]+)/([^/]+)$`)

// imageOf returns the name of a provider's image: that of the repository that
// the module is in, where GitHub keeps both.
func imageOf(module string, n names) string {
	if at := onGitHub.FindStringSubmatch(module); at != nil {
		return strings.ToLower("ghcr.io/" + at[1] + "/" + at[2])
	}
	return "registry.example.com/" + n.Program()
}

// goModTidy completes go.mod and writes go.sum.
func goModTidy(ctx context.Context, dir string) error {
	tidy := exec.CommandContext(ctx, "go", "mod", "tidy")
	tidy.Dir = dir
	if output, err := tidy.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy: %w\n%s", err, output)
	}
	return nil
}

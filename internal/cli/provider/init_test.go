// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/fivespot/fivespot/internal/cli"
)

// runInit runs the command; what completes the module is left out.
func runInit(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return execute(t, "", func(streams cli.Streams) *cobra.Command {
		return newInitCommand(streams, func(context.Context, string) error { return nil })
	}, args...)
}

func TestInitWritesAProvider(t *testing.T) {
	t.Chdir(t.TempDir())
	sdk := checkout(t)
	said, err := runInit(t, "TideSchedule", "--module", "github.com/Acme/tides", "--sdk", sdk)
	if err != nil {
		t.Fatal(err)
	}
	// That it is what a generator makes of the types is test/scaffold's business.
	write(t, "tide-schedule/deploy/crd.yaml", "...\n")
	got := strings.ReplaceAll(tree(t, "tide-schedule"), sdk, "/path/to/fivespot")
	t.Chdir(sourceDir)
	checkGolden(t, "init.stdout", said)
	checkGolden(t, "init.files", got)
}

// sourceDir is where this package is, whatever directory a test goes to.
var sourceDir = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

func TestInitTakesOtherNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "desk")
	_, err := runInit(t, "desk-schedule", "--module", "example.com/desk", "--sdk", checkout(t), "--dir", dir,
		"--plural", "desks", "--short-name", "dsk", "--namespace", "trading")
	if err != nil {
		t.Fatal(err)
	}
	got := tree(t, dir)
	for _, want := range []string{
		"type DeskSchedule struct {",
		"+kubebuilder:resource:path=desks,singular=deskschedule,shortName=dsk,scope=Namespaced",
		"name: desks.spotschedules.5spot.finos.org",
		`sdk.WithResource("desks")`,
		"namespace: trading",
		"registry.example.com/desk-schedule-provider:v0.1.0",
		"module example.com/desk\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the files do not hold %q", want)
		}
	}
	for _, other := range []string{"5spot-system", "{{", "<no value>"} {
		if strings.Contains(got, other) {
			t.Errorf("the files hold %q", other)
		}
	}
}

func TestInitIntoANewRepository(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git", "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := runInit(t, "TideSchedule", "--module", "example.com/tides", "--sdk", checkout(t), "--dir", dir); err != nil {
		t.Error(err)
	}
}

func TestInitWritesNothingOver(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "notes"), "mine")
	_, err := runInit(t, "TideSchedule", "--module", "example.com/tides", "--sdk", checkout(t), "--dir", dir)
	checkRefused(t, err, dir+" is not empty", "name another directory with --dir")
	if got := tree(t, dir); got != "=== notes\nmine" {
		t.Errorf("the directory now holds:\n%s", got)
	}
}

func TestInitIsRefused(t *testing.T) {
	sdk, elsewhere := checkout(t), t.TempDir()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"without a name":              {[]string{"--sdk", sdk, "--module", "example.com/m"}, "give one name of a kind"},
		"with two names":              {[]string{"Tide", "Schedule", "--sdk", sdk, "--module", "example.com/m"}, "there are 2"},
		"without a module":            {[]string{"TideSchedule", "--sdk", sdk}, "name the Go module with --module, as in --module example.com/tide-schedule"},
		"with an impossible module":   {[]string{"TideSchedule", "--sdk", sdk, "--module", "https://example.com/tides"}, "is no path of a Go module"},
		"for the function's name":     {[]string{"evaluate", "--sdk", sdk, "--module", "example.com/m"}, "Evaluate is the name of the function that decides"},
		"for a bad name":              {[]string{"tide_schedule", "--sdk", sdk, "--module", "example.com/m"}, "is no name of a kind"},
		"into an impossible place":    {[]string{"TideSchedule", "--sdk", sdk, "--module", "example.com/m", "--namespace", "Trading"}, `--namespace "Trading"`},
		"with an SDK that is none":    {[]string{"TideSchedule", "--sdk", elsewhere, "--module", "example.com/m"}, "is no checkout of github.com/fivespot/fivespot"},
		"for 5-Spot itself":           {[]string{"TideSchedule", "--sdk", sdk, "--module", "github.com/fivespot/fivespot"}, "is the module of 5-Spot itself"},
		"without knowing any release": {[]string{"TideSchedule", "--module", "example.com/m"}, "name one with --sdk"},
		"into a file":                 {[]string{"TideSchedule", "--sdk", sdk, "--module", "example.com/m", "--dir", filepath.Join(sdk, "go.mod")}, "is a file, and no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			_, err := runInit(t, test.args...)
			checkRefused(t, err, test.want)
			if left := tree(t, "."); left != "" {
				t.Errorf("it left\n%s", left)
			}
		})
	}
}

func TestAnUnknownVerbIsRefused(t *testing.T) {
	_, err := execute(t, "", NewCommand, "inti")
	checkRefused(t, err, `unknown command "inti"`)
}

func TestInitSaysThatModulesCouldNotBeFound(t *testing.T) {
	dir := t.TempDir()
	_, err := execute(t, "", func(streams cli.Streams) *cobra.Command {
		return newInitCommand(streams, func(_ context.Context, at string) error {
			if at != dir {
				t.Errorf("it completes the module in %s, want %s", at, dir)
			}
			return errors.New("no network")
		})
	}, "TideSchedule", "--module", "example.com/tides", "--sdk", checkout(t), "--dir", dir)
	checkRefused(t, err, "the files are written", "no network", "`make` tries it again")
}

func TestSDKOfAProvider(t *testing.T) {
	tree, elsewhere := checkout(t), t.TempDir()
	for name, test := range map[string]struct {
		checkout, version, executable string
		want                          sdk
	}{
		"of a release":                {"", "v1.2.3", elsewhere + "/fivespot", sdk{Version: "v1.2.3"}},
		"of a release candidate":      {"", "v1.0.0-rc.1", elsewhere + "/fivespot", sdk{Version: "v1.0.0-rc.1"}},
		"of a commit, in a checkout":  {"", "v1.2.3-4-gdb7e76a", tree + "/bin/fivespot", sdk{"v0.0.0", tree}},
		"of no version, likewise":     {"", "unknown", tree + "/bin/fivespot", sdk{"v0.0.0", tree}},
		"of a checkout that is named": {tree, "v1.2.3", elsewhere + "/fivespot", sdk{"v0.0.0", tree}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := findSDK(test.checkout, test.version, test.executable)
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	_, err := findSDK("", "v1.2.3-dirty", elsewhere+"/fivespot")
	checkRefused(t, err, "name one with --sdk")
}

func TestModuleOfAReleaseReplacesNothing(t *testing.T) {
	n, err := deriveNames("TideSchedule", chosen{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := scaffold{names: n, Module: "example.com/tides", SDK: sdk{Version: "v1.2.3"}}.files()
	if err != nil {
		t.Fatal(err)
	}
	module, err := modfile.Parse("go.mod", files["go.mod"], nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(module.Replace) > 0 || module.Require[0].Mod.String() != "github.com/fivespot/fivespot@v1.2.3" {
		t.Errorf("go.mod is\n%s", files["go.mod"])
	}
}

// Docker knows a Containerfile only if it is told of it.
func TestAnImageIsMadeByDockerToo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tides")
	if _, err := runInit(t, "TideSchedule", "--module", "example.com/tides", "--sdk", checkout(t), "--dir", dir); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "make", "--dry-run", "image", "CONTAINER_TOOL=docker")
	command.Dir = dir
	command.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=0") // this test may be run by make
	output, err := command.CombinedOutput()
	const want = "docker build --file Containerfile "
	if err != nil || !strings.Contains(string(output), want) {
		t.Errorf("it does not run %q (%v):\n%s", want, err, output)
	}
}

// A provider is made with the versions that this repository is made with.
func TestVersionsAreThoseOfThisRepository(t *testing.T) {
	const root = "../../.."
	if got := moduleAt(t, root).Go.Version; got != goVersion {
		t.Errorf("a provider asks for Go %s, and this module for %s", goVersion, got)
	}
	for _, require := range moduleAt(t, filepath.Join(root, "tools")).Require {
		if require.Mod.Path == "sigs.k8s.io/controller-tools" && require.Mod.Version != controllerTools {
			t.Errorf("a provider has controller-tools %s, and tools/ %s", controllerTools, require.Mod.Version)
		}
	}
}

func moduleAt(t *testing.T, dir string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

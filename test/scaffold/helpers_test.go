// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/provider"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// root is this repository.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// fivespot runs `fivespot provider` and returns what it prints.
func fivespot(t *testing.T, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	command := provider.NewCommand(cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &out})
	command.SetArgs(args)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("fivespot provider %v: %v", args, err)
	}
	return out.Bytes()
}

// newProvider writes a provider that has the SDK of this repository, and returns
// its directory.
func newProvider(t *testing.T, name string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "provider")
	fivespot(t, append([]string{"init", name, "--module", "example.com/acme/provider", "--dir", dir, "--sdk", root}, args...)...)
	return dir
}

// program prepares to run a program in a directory, with the programs of bin/
// before all others.
func program(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), environment()...)
	return command
}

// run runs a program to its end.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if output, err := program(t, dir, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
}

// environment is what an author's programs find there.
func environment() []string {
	return []string{"PATH=" + tool("") + string(os.PathListSeparator) + os.Getenv("PATH"), "GOWORK=off"}
}

// tool returns the path of a program of bin/.
func tool(name string) string { return filepath.Join(root, "bin", name) }

func readFile(t *testing.T, elements ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// awaitReads returns when readers of the contract come to the state, for the
// spec as it is.
func awaitReads(t *testing.T, object *unstructured.Unstructured, want contract.State) {
	t.Helper()
	generation := object.GetGeneration()
	devplanetest.Await(t, object, func() error {
		reading := contract.ReadObject(object)
		if reading.State != want || reading.ObservedGeneration == nil || *reading.ObservedGeneration < generation {
			return fmt.Errorf("it reads as %v: %s", reading.State, reading.Message)
		}
		return nil
	})
}

// parse adds the fields of a text to an object.
func parse(t *testing.T, text string, into *unstructured.Unstructured) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &into.Object); err != nil {
		t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/fivespot/fivespot/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files anew")

// execute runs a command that make returns, and returns what it prints.
func execute(t *testing.T, stdin string, newCommand func(cli.Streams) *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand(cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &out})
	command.SetArgs(append([]string{}, args...))
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// checkRefused checks that an error says what is wrong, and what to do.
func checkRefused(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it says %q, want it to hold %q", err, part)
		}
	}
}

// checkout makes a directory that passes for one of this repository.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module github.com/fivespot/fivespot\n")
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree returns the files below a directory in one text, in the order of their paths.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&all, "=== %s\n%s", name, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

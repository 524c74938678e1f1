// SPDX-License-Identifier: Apache-2.0

// Package generated checks that what is generated from the types in api/ is
// what is checked in.
package generated

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	generator, err := filepath.Abs(filepath.Join(root, "bin", "controller-gen"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(generator); err != nil {
		t.Fatalf("the generator is missing: run `make build` (%v)", err)
	}

	tree := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "tools/boilerplate.go.txt", "api"} {
		copyInto(t, tree, name)
	}
	if err := os.MkdirAll(filepath.Join(tree, "deploy", "crds"), 0o755); err != nil {
		t.Fatal(err)
	}
	// What the tree has of generated Go is left behind, so that a file which is
	// no longer generated shows as well.
	for name := range generatedFiles(t, tree) {
		if err := os.Remove(filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}

	generate := exec.CommandContext(t.Context(), filepath.Join(root, "tools", "generate.sh"), tree)
	generate.Env = append(os.Environ(), "CONTROLLER_GEN="+generator)
	if output, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("generating: %v\n%s", err, output)
	}

	if diff := cmp.Diff(generatedFiles(t, root), generatedFiles(t, tree)); diff != "" {
		t.Errorf("generated files are out of date: run `make generate` (-checked in +generated):\n%s", diff)
	}
}

// generatedFiles returns the text of every generated file of a tree, by name.
func generatedFiles(t *testing.T, tree string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{"api", "deploy/crds"} {
		err := filepath.WalkDir(filepath.Join(tree, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if dir == "api" && !strings.HasPrefix(entry.Name(), "zz_generated.") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(tree, path)
			files[name] = string(text)
			return err
		})
		if err != nil {
			t.Fatalf("reading %s: %v", dir, err)
		}
	}
	return files
}

// copyInto copies a file or directory of this repository into a tree.
func copyInto(t *testing.T, tree, name string) {
	t.Helper()
	from, to := filepath.Join(root, name), filepath.Join(tree, name)
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

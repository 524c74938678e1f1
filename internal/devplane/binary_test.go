// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindBinaryInTheSourceTree(t *testing.T) {
	root := t.TempDir()
	write := func(mode os.FileMode, content string, path ...string) {
		t.Helper()
		file := filepath.Join(append([]string{root}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(0o600, "module github.com/fivespot/fivespot/test/part\n", "test", "part", "go.mod")
	t.Chdir(filepath.Join(root, "test", "part"))

	if _, err := findBinary(); err == nil || !strings.Contains(err.Error(), "source tree") {
		t.Errorf("outside of the source tree: got %v, want that this is the reason", err)
	}
	write(0o600, "// a comment\nmodule github.com/fivespot/fivespot\n\ngo 1.26.0\n", "go.mod")
	if _, err := findBinary(); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("not built: got %v, want to be told of make build", err)
	}
	write(0o700, "", "bin", "devplane")
	got, err := findBinary()
	if err != nil {
		t.Fatal(err)
	}
	// The working directory may be named by another path than the one given.
	want, err := filepath.EvalSymlinks(filepath.Join(root, "bin", "devplane"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err = filepath.EvalSymlinks(got); err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

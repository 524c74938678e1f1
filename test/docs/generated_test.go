// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedPagesAreUpToDate(t *testing.T) {
	output := t.TempDir()
	generate := exec.CommandContext(t.Context(), "go", "run", "./docs/generate", "--output", output)
	generate.Dir = root
	if text, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("generating: %v\n%s", err, text)
	}
	for _, name := range []string{"api.md", "cli.md"} {
		want, err := os.ReadFile(filepath.Join(output, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(read(t, "docs/reference/"+name), string(want)); diff != "" {
			t.Errorf("docs/reference/%s is out of date: run `go run ./docs/generate` (-checked in +generated):\n%s", name, diff)
		}
	}
}

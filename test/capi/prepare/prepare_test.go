// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func TestEditThatDoesNotFitIsRefused(t *testing.T) {
	for name, content := range map[string]string{
		"the text is gone":             "nothing of it\n",
		"the text is there once more":  strings.Repeat("listen(all)\n", 2),
		"the text is already replaced": "listen(loopback)\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "server.go"), content, 0o644)
			err := applyEdits(dir, []edit{{file: "server.go", old: "listen(all)", new: "listen(loopback)", count: 1}})
			if err == nil || !strings.Contains(err.Error(), "server.go") {
				t.Errorf("got %v, want an error that names the file", err)
			}
		})
	}
}

func TestCopyLeavesOutWhatNoBuildNeedsAndCanBeEdited(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for _, name := range []string{"core/main.go", "core/main_test.go", "docs/book.md", "core/testdata/x.go", "go.mod"} {
		write(t, filepath.Join(from, name), "listen(all)\n", 0o444) // as in the module cache
	}
	if err := copySources(from, to); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := filepath.WalkDir(to, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(to, path)
			got = append(got, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"core/main.go", "go.mod"}, got); diff != "" {
		t.Errorf("files of the copy (-want +got):\n%s", diff)
	}
	if err := applyEdits(to, []edit{{file: "core/main.go", old: "all", new: "loopback", count: 1}}); err != nil {
		t.Error(err)
	}
}

func TestDefinitionGetsTheContractLabelsAndNoConversionWebhook(t *testing.T) {
	got, err := adaptCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: machines.cluster.x-k8s.io
  labels: {kept: "yes"}
spec:
  group: cluster.x-k8s.io
  conversion: {strategy: Webhook}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  labels:
    cluster.x-k8s.io/v1beta1: v1beta1
    cluster.x-k8s.io/v1beta2: v1beta2
    kept: "yes"
  name: machines.cluster.x-k8s.io
spec:
  conversion:
    strategy: None
  group: cluster.x-k8s.io
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
}

func TestFileThatIsNoDefinitionIsRefused(t *testing.T) {
	for _, content := range []string{"[]", "kind: List", "metadata: {}"} {
		if _, err := adaptCRD([]byte(content)); err == nil {
			t.Errorf("no error for %q", content)
		}
	}
}

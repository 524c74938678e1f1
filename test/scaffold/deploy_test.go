// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
)

// A provider is installed with the rights of the shipped ones and is as hardened
// as they are: test/deploy says how hard that is.
func TestAProviderIsInstalledAsTheShippedOnesAre(t *testing.T) {
	got := objects(t, rendered(t, filepath.Join(newProvider(t, "TideSchedule"), "deploy")))
	delete(got, "CustomResourceDefinition")
	if diff := cmp.Diff(shipped(t), got); diff != "" {
		t.Errorf("(-shipped +written):\n%s", diff)
	}
}

// shipped returns the objects of the provider of ManualSchedule, as they are
// for a program that runs one kind only.
func shipped(t *testing.T) map[string]map[string]any {
	t.Helper()
	const dir = "spot-schedule-providers/manual"
	entries, err := deploy.FS.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	rename := strings.NewReplacer(
		"manual-schedule-provider", "tide-schedule-provider",
		"manualschedules", "tideschedules",
		"ghcr.io/fivespot/fivespot:v0.1.0", "registry.example.com/tide-schedule-provider:v0.1.0",
		"          args:\n            - --kinds=ManualSchedule\n", "",
	)
	var all []string
	for _, entry := range entries {
		if entry.Name() == "kustomization.yaml" {
			continue
		}
		text, err := deploy.FS.ReadFile(path.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rename.Replace(string(text)))
	}
	return objects(t, strings.Join(all, "\n---\n"))
}

// rendered returns what `kubectl apply -k` applies.
func rendered(t *testing.T, dir string) string {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// objects returns the objects of a manifest by kind, of which it has one each.
func objects(t *testing.T, manifest string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		if found[object.GetKind()] != nil {
			t.Fatalf("there are two of %s", object.GetKind())
		}
		found[object.GetKind()] = object.Object
	}
	return found
}

// The API server takes all of it, from kubectl, without a word of warning.
func TestAProviderIsApplied(t *testing.T) {
	dir := newProvider(t, "MoonPhase")
	said := kubectl(t, "", "apply", "--server-side", "-k", filepath.Join(dir, "deploy"))
	for _, want := range []string{
		"customresourcedefinition.apiextensions.k8s.io/moonphases.spotschedules.5spot.finos.org serverside-applied",
		"serviceaccount/moon-phase-provider serverside-applied",
		"deployment.apps/moon-phase-provider serverside-applied",
		"networkpolicy.networking.k8s.io/moon-phase-provider serverside-applied",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("kubectl does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "Warning") {
		t.Errorf("kubectl warns:\n%s", said)
	}
}

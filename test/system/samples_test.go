// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// TestWhatTheSamplesEmbedIsAccepted has the API server look at the Cluster API
// objects that the ScheduledMachines of examples/ and of the README would make:
// of those it knows nothing when a ScheduledMachine is applied.
func TestWhatTheSamplesEmbedIsAccepted(t *testing.T) {
	samples := sampleMachines(t)
	if len(samples) < 3 {
		t.Fatalf("found only %d samples", len(samples))
	}
	c := localclustertest.Cluster(t).Client()
	for name, sm := range samples {
		sm.Namespace, sm.Name = localcluster.Namespace, "sample"
		for _, build := range []func(*v1beta1.ScheduledMachine) (*unstructured.Unstructured, error){capi.Bootstrap, capi.Infrastructure} {
			object, err := build(sm)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			object.SetOwnerReferences(nil) // it was never applied, so it has no UID
			if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// sampleMachines returns the ScheduledMachines that a reader would copy, by where
// they stand.
func sampleMachines(t *testing.T) map[string]*v1beta1.ScheduledMachine {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fenced := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	found := map[string]*v1beta1.ScheduledMachine{}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		manifests := []string{string(text)}
		if filepath.Ext(file) == ".md" {
			manifests = nil
			for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
				manifests = append(manifests, block[1])
			}
		}
		for document := range strings.SplitSeq(strings.Join(manifests, "\n---\n"), "\n---\n") {
			if !strings.Contains(document, "kind: ScheduledMachine\n") {
				continue
			}
			sm := &v1beta1.ScheduledMachine{}
			if err := yaml.UnmarshalStrict([]byte(document), sm); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			found[filepath.Base(file)] = sm
		}
	}
	return found
}

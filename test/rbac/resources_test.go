// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// Groups of ours.
const (
	schedulesGroup = "spotschedules.5spot.finos.org"
	machinesGroup  = "5spot.finos.org"
)

// A resource is one that is served, with an object to make.
type resource struct {
	schema.GroupVersionResource
	hasStatus bool
	sample    *unstructured.Unstructured
}

// resources returns every namespaced resource of our groups that the API server
// serves, and a few that any process might be tempted by.
func resources(t *testing.T) []resource {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(devplanetest.Plane(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	tempting := []string{"secrets", "configmaps", "serviceaccounts", "leases.coordination.k8s.io"}
	samples := samples(t)
	var all []resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, served := range list.APIResources {
			r := resource{GroupVersionResource: version.WithResource(served.Name)}
			ours := version.Group == schedulesGroup || version.Group == machinesGroup
			if strings.Contains(served.Name, "/") || !ours && !slices.Contains(tempting, r.GroupResource().String()) {
				continue
			}
			r.hasStatus = slices.ContainsFunc(list.APIResources, func(other metav1.APIResource) bool {
				return other.Name == served.Name+"/status"
			})
			if r.sample = samples[served.Kind]; r.sample == nil {
				r.sample = &unstructured.Unstructured{}
			}
			r.sample.SetGroupVersionKind(version.WithKind(served.Kind))
			all = append(all, r)
		}
	}
	if len(all) < 9 {
		t.Fatalf("found %d resources, want at least four kinds of schedules, ScheduledMachines and four others", len(all))
	}
	return all
}

// samples returns the first example of each kind.
func samples(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no examples (%v)", err)
	}
	found := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if found[object.GetKind()] == nil {
				found[object.GetKind()] = object
			}
		}
	}
	return found
}

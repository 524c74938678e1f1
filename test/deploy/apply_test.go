// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// warnings are what an API server says beside its answer.
type warnings struct {
	mu   sync.Mutex
	said []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

// listeningClient is an admin who hears each warning.
func listeningClient(t *testing.T) (client.Client, *warnings) {
	t.Helper()
	heard := &warnings{}
	listening := rest.CopyConfig(config)
	listening.WarningHandlerWithContext = heard
	c, err := client.New(listening, client.Options{Scheme: cluster.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c, heard
}

// The API server takes all of it, without a word of warning: first as a dry
// run, then in truth, and a second time without changing anything.
func TestApplyingTheWhole(t *testing.T) {
	c, heard := listeningClient(t)
	objects := render(t, ".")
	apply := func(object *unstructured.Unstructured, options ...client.ApplyOption) string {
		t.Helper()
		stored := object.DeepCopy()
		configuration := client.ApplyConfigurationFromUnstructured(stored)
		if err := c.Apply(t.Context(), configuration, append(options, client.FieldOwner("kubectl"))...); err != nil {
			t.Fatalf("applying %s: %v", named(object), err)
		}
		for _, warning := range heard.said {
			t.Errorf("applying %s: the API server warns: %s", named(object), warning)
		}
		heard.said = nil
		return stored.GetResourceVersion()
	}

	for _, object := range objects {
		apply(object, client.DryRunAll)
		if object.GetKind() == "Namespace" {
			apply(object) // what follows is of it
		}
	}
	versions := map[string]string{}
	for _, object := range objects {
		versions[named(object)] = apply(object)
		if object.GetKind() == "CustomResourceDefinition" {
			devplanetest.AwaitCRD(t, object.GetName())
			versions[named(object)] = apply(object) // its status has been written meanwhile
		}
	}
	again := map[string]string{}
	for _, object := range objects {
		again[named(object)] = apply(object)
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		if versions[name] != again[name] {
			t.Errorf("applying %s once more changed it", name)
		}
	}
}

// Pods as the Deployments would make them pass the strictest Pod Security
// Standard, which their namespace enforces.
func TestPodsAreAdmitted(t *testing.T) {
	install(t)
	for _, c := range containers(t) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: c.deployment.Name, Namespace: namespace, Labels: c.deployment.Spec.Template.Labels},
			Spec:       *c.pod.DeepCopy(),
		}
		if err := cluster.Create(t.Context(), pod.DeepCopy(), client.DryRunAll); err != nil {
			t.Errorf("a pod of %s is refused: %v", c.deployment.Name, err)
		}
		pod.Spec.SecurityContext.RunAsNonRoot = nil
		pod.Spec.Containers[0].SecurityContext.RunAsNonRoot = nil
		err := cluster.Create(t.Context(), pod, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
			t.Errorf("a pod of %s that may run as root: %v, want it refused by the namespace", c.deployment.Name, err)
		}
	}
}

// The samples apply in the order of their names, as kubectl takes a directory.
func TestSamplesApply(t *testing.T) {
	install(t)
	c, heard := listeningClient(t)
	files := samples(t)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(files[file], &object.Object); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		configuration := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Apply(t.Context(), configuration, client.FieldOwner("kubectl")); err != nil {
			t.Errorf("applying %s: %v", file, err)
		}
		if len(heard.said) > 0 {
			t.Errorf("applying %s: the API server warns: %v", file, heard.said)
		}
	}
}

var installed sync.Once

// install applies the whole of deploy/, once for all tests.
func install(t *testing.T) {
	t.Helper()
	installed.Do(func() {
		for _, object := range render(t, ".") {
			text, err := object.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			devplanetest.Apply(t, text)
		}
	})
}

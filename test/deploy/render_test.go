// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fivespot/fivespot/deploy"
)

const root = "../.."

// render returns the objects of a kustomize tree below deploy/, in its order.
func render(t *testing.T, tree string) []*unstructured.Unstructured {
	t.Helper()
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(deploy.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(deploy.FS, name)
		if err != nil {
			return err
		}
		return memory.WriteFile(filepath.Join("/", name), text)
	})
	if err != nil {
		t.Fatalf("reading deploy/: %v", err)
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, path.Join("/", tree))
	if err != nil {
		t.Fatalf("rendering deploy/%s: %v", tree, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		fields, err := resource.Map()
		if err != nil {
			t.Fatal(err)
		}
		text, err := resource.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{Object: fields}
		if err := object.UnmarshalJSON(text); err != nil { // numbers as a client has them
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// named says what an object is called in messages.
func named(object *unstructured.Unstructured) string {
	return strings.TrimPrefix(object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName(), "/")
}

// ofKind returns the objects of a kind, as their Go type.
func ofKind[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) []T {
	t.Helper()
	var found []T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
			t.Fatalf("reading %s: %v", named(object), err)
		}
		found = append(found, typed)
	}
	if len(found) == 0 {
		t.Fatalf("there is no %s", kind)
	}
	return found
}

// A container of a Deployment that is shipped.
type container struct {
	deployment appsv1.Deployment
	pod        corev1.PodSpec
	corev1.Container
}

// containers returns every container that is shipped.
func containers(t *testing.T) []container {
	t.Helper()
	objects := render(t, ".")
	for _, object := range objects {
		if slices.Contains([]string{"DaemonSet", "StatefulSet", "Job", "CronJob", "Pod", "ReplicaSet"}, object.GetKind()) {
			t.Fatalf("%s has pods that these tests do not look at", named(object))
		}
	}
	var all []container
	for _, deployment := range ofKind[appsv1.Deployment](t, objects, "Deployment") {
		pod := deployment.Spec.Template.Spec
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			all = append(all, container{deployment, pod, c})
		}
	}
	return all
}

func (c container) String() string { return c.deployment.Name + "/" + c.Name }

// trees lists the directories below deploy/ that have a kustomization.
func trees(t *testing.T) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(deploy.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if path.Base(name) == "kustomization.yaml" {
			found = append(found, path.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// notInTheWhole are the trees that deploy/ leaves to whoever has what they need.
var notInTheWhole = map[string]string{
	"monitoring": "needs the CRDs of the Prometheus operator",
}

func TestTheWholeIsTheSumOfItsTrees(t *testing.T) {
	whole := map[string]bool{}
	for _, object := range render(t, ".") {
		whole[named(object)] = true
	}
	for _, tree := range trees(t) {
		for _, object := range render(t, tree) {
			if _, left := notInTheWhole[tree]; left == whole[named(object)] {
				t.Errorf("%s of deploy/%s is in deploy/: %t", named(object), tree, whole[named(object)])
			}
		}
	}
}

// Every manifest is part of a tree: a file that nobody lists is never applied.
func TestEveryFileIsPartOfATree(t *testing.T) {
	var unlisted []string
	for _, tree := range trees(t) {
		text, err := fs.ReadFile(deploy.FS, path.Join(tree, "kustomization.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := fs.ReadDir(deploy.FS, tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if path.Ext(entry.Name()) == ".yaml" && entry.Name() != "kustomization.yaml" && !strings.Contains(string(text), "- "+entry.Name()+"\n") {
				unlisted = append(unlisted, path.Join(tree, entry.Name()))
			}
		}
	}
	if len(unlisted) > 0 {
		t.Errorf("no kustomization lists %s", strings.Join(unlisted, ", "))
	}
}

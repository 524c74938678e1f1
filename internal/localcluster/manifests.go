// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fivespot/fivespot/deploy"
)

// deployManifests renders deploy/ as `kubectl apply -k` does, without what a
// control plane cannot use that has no machine of its own to run pods on: our
// processes run beside it instead.
func deployManifests() ([]*unstructured.Unstructured, error) {
	objects, err := render(deploy.FS)
	if err != nil {
		return nil, fmt.Errorf("rendering deploy/: %w", err)
	}
	return slices.DeleteFunc(objects, needsPods), nil
}

// needsPods tells whether an object is about running pods or reaching them.
func needsPods(object *unstructured.Unstructured) bool {
	switch gvk := object.GroupVersionKind(); gvk.Group {
	case "apps", "policy", "networking.k8s.io", "monitoring.coreos.com":
		return true
	case "":
		return gvk.Kind == "Service"
	default:
		return false
	}
}

// render builds the kustomization at the root of tree.
func render(tree fs.FS) ([]*unstructured.Unstructured, error) {
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		return memory.WriteFile(filepath.Join("/", path), content)
	})
	if err != nil {
		return nil, err
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/")
	if err != nil {
		return nil, err
	}
	manifest, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return decode(manifest)
}

// readManifests reads the YAML files of a directory, one object each.
func readManifests(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no manifests: run `make build`", dir)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		some, err := decode(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, some...)
	}
	return objects, nil
}

// decode reads the objects of a YAML stream.
func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding a manifest: %w", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

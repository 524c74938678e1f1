// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
)

// fieldManager owns what is applied here.
const fieldManager = "devplanetest"

// Apply applies the objects of a manifest (YAML or JSON, one or more documents)
// in their order, server-side and by force, and returns them as the API server
// then had them. CustomResourceDefinitions in it are served when it returns.
func Apply(tb testing.TB, manifest []byte) []*unstructured.Unstructured {
	tb.Helper()
	return ApplyIn(tb, "", manifest)
}

// ApplyIn is Apply where objects that need a namespace and name none go to this
// one.
func ApplyIn(tb testing.TB, namespace string, manifest []byte) []*unstructured.Unstructured {
	tb.Helper()
	objects, err := apply(Context(tb), Client(tb), namespace, manifest)
	if err != nil {
		tb.Fatal(err)
	}
	return objects
}

// Manifest returns a Setup that applies a manifest as Apply does.
func Manifest(manifest []byte) Setup {
	return func(p *devplane.Plane) error {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		c, err := newClient(p.Config())
		if err != nil {
			return err
		}
		_, err = apply(ctx, c, "", manifest)
		return err
	}
}

func apply(ctx context.Context, c client.WithWatch, namespace string, manifest []byte) ([]*unstructured.Unstructured, error) {
	objects, err := decode(manifest)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if err := place(c, object, namespace); err != nil {
			return nil, err
		}
		what := fmt.Sprintf("applying %s %s", object.GetKind(), client.ObjectKeyFromObject(object))
		configuration := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if object.GroupVersionKind().GroupKind() == crdKind {
			if err := awaitServed(ctx, c, object.GetName()); err != nil {
				return nil, fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return objects, nil
}

func place(c client.Client, object *unstructured.Unstructured, namespace string) error {
	if namespace == "" || object.GetNamespace() != "" {
		return nil
	}
	namespaced, err := c.IsObjectNamespaced(object)
	if err != nil {
		return fmt.Errorf("finding whether %s %s is namespaced: %w", object.GetKind(), object.GetName(), err)
	}
	if namespaced {
		object.SetNamespace(namespace)
	}
	return nil
}

// decode leaves out empty documents.
func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading document %d of the manifest: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

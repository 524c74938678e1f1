// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// A call makes one request about an object that exists.
type call struct {
	name string
	// needsStatus is true for calls of the status subresource.
	needsStatus bool
	// writes is true for calls that change something when they are allowed.
	writes bool
	do     func(ctx context.Context, c dynamic.NamespaceableResourceInterface, object *unstructured.Unstructured) error
}

const (
	specPatch   = `{"metadata":{"annotations":{"written":"by the account"}}}`
	statusPatch = `{"status":{"active":true,"message":"written by the account"}}`
)

// calls are all kinds of requests that can be made about an object.
var calls = []call{
	{name: "get", do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		_, err := in(c, o).Get(ctx, o.GetName(), metav1.GetOptions{})
		return err
	}},
	{name: "list", do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		_, err := in(c, o).List(ctx, metav1.ListOptions{})
		return err
	}},
	{name: "list everywhere", do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, _ *unstructured.Unstructured) error {
		_, err := c.List(ctx, metav1.ListOptions{})
		return err
	}},
	{name: "watch", do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		watch, err := in(c, o).Watch(ctx, metav1.ListOptions{})
		if err == nil {
			watch.Stop()
		}
		return err
	}},
	{name: "create", writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		another := o.DeepCopy()
		another.SetName(o.GetName() + "-made")
		another.SetResourceVersion("")
		_, err := in(c, o).Create(ctx, another, metav1.CreateOptions{})
		return err
	}},
	{name: "update", writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		changed := o.DeepCopy()
		changed.SetAnnotations(map[string]string{"written": "by the account"})
		_, err := in(c, o).Update(ctx, changed, metav1.UpdateOptions{})
		return err
	}},
	{name: "patch", writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		_, err := in(c, o).Patch(ctx, o.GetName(), types.MergePatchType, []byte(specPatch), metav1.PatchOptions{})
		return err
	}},
	{name: "delete", writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		return in(c, o).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
	}},
	{name: "delete a collection", writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		return in(c, o).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + o.GetName()})
	}},
	{name: "get status", needsStatus: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		_, err := in(c, o).Get(ctx, o.GetName(), metav1.GetOptions{}, "status")
		return err
	}},
	{name: "update status", needsStatus: true, writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		changed := o.DeepCopy()
		changed.Object["status"] = map[string]any{"active": true, "message": "written by the account"}
		_, err := in(c, o).UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationIgnore})
		return err
	}},
	{name: "patch status", needsStatus: true, writes: true, do: func(ctx context.Context, c dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured) error {
		_, err := in(c, o).Patch(ctx, o.GetName(), types.MergePatchType, []byte(statusPatch),
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationIgnore}, "status")
		return err
	}},
}

func in(c dynamic.NamespaceableResourceInterface, object *unstructured.Unstructured) dynamic.ResourceInterface {
	return c.Namespace(object.GetNamespace())
}

// make makes an object to be called about.
func (r resource) make(t *testing.T, admin dynamic.Interface, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := r.sample.DeepCopy()
	object.SetNamespace(namespace)
	object.SetName("")
	object.SetGenerateName("sample-")
	made, err := admin.Resource(r.GroupVersionResource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// newInformer returns an informer over all objects of a resource, reduced by
// transform and found by the indexers. It never resyncs.
func newInformer(client dynamic.Interface, resource schema.GroupVersionResource, transform cache.TransformFunc, indexers cache.Indexers) (cache.SharedIndexInformer, error) {
	objects := client.Resource(resource)
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, options)
		},
	}
	informer := cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(listWatch, client),
		&unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{ObjectDescription: resource.String(), Indexers: indexers},
	)
	return informer, informer.SetTransform(transform)
}

// handlers calls changed with every object that is new, gone or, unless same
// says that it is not, different.
func handlers[T any](changed func(T), same func(before, after T) bool) cache.ResourceEventHandlerFuncs {
	call := func(object any) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		if typed, ok := object.(T); ok {
			changed(typed)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: call,
		UpdateFunc: func(was, is any) {
			before, known := was.(T)
			after, ok := is.(T)
			if ok && (!known || same == nil || !same(before, after)) {
				changed(after)
			}
		},
		DeleteFunc: call,
	}
}

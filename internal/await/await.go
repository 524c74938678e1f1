// SPDX-License-Identifier: Apache-2.0

// Package await waits, by watching, for an object of a Kubernetes API to be as
// wanted. Nothing here polls.
//
// It imports client libraries only.
package await

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object fills object, which need only have its name and namespace, with each
// state that the server has of it, and returns nil as soon as check does.
// Until then check says what is missing. When ctx ends first, the error says
// what was missing last.
func Object(ctx context.Context, c client.WithWatch, object client.Object, check func() error) error {
	return Follow(ctx, c, object, func(exists bool) error {
		if !exists {
			return errors.New("it does not exist")
		}
		return check()
	})
}

// Gone returns nil as soon as the object with the name and namespace of object
// does not exist. It fills object with each state before that.
func Gone(ctx context.Context, c client.WithWatch, object client.Object) error {
	return Follow(ctx, c, object, func(exists bool) error {
		switch {
		case !exists:
			return nil
		case object.GetDeletionTimestamp() != nil:
			return errors.New("it is being deleted")
		default:
			return errors.New("it exists")
		}
	})
}

// Follow is the general case: check is told of absence too, and object then
// keeps its last state.
func Follow(ctx context.Context, c client.WithWatch, object client.Object, check func(exists bool) error) error {
	return until(ctx, c, object, func(state *unstructured.Unstructured) error {
		if state == nil {
			return check(false)
		}
		if err := fill(object, state); err != nil {
			return err
		}
		return check(true)
	})
}

// until calls check with each state of the object, nil for absent.
func until(ctx context.Context, c client.WithWatch, object client.Object, check func(*unstructured.Unstructured) error) error {
	gvk, err := c.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Errorf("finding the kind of %T: %w", object, err)
	}
	var missing error
	seen := func(state *unstructured.Unstructured) bool {
		missing = check(state)
		return missing == nil
	}
	key := client.ObjectKeyFromObject(object)
	_, err = watchtools.UntilWithSync(ctx, listerWatcher(c, gvk, key), &unstructured.Unstructured{},
		func(store cache.Store) (bool, error) {
			// A state that is there at the start comes as an event; absence does not.
			return len(store.ListKeys()) == 0 && seen(nil), nil
		},
		func(event watch.Event) (bool, error) { return seen(stateOf(event)), nil },
	)
	if err != nil {
		if missing == nil {
			missing = errors.New("nothing was seen of it")
		}
		return fmt.Errorf("waiting for %s %s: %w (%w)", gvk.Kind, key, missing, cause(ctx, err))
	}
	return nil
}

func stateOf(event watch.Event) *unstructured.Unstructured {
	if event.Type == watch.Deleted {
		return nil
	}
	state, _ := event.Object.(*unstructured.Unstructured)
	return state
}

func cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// fill replaces the content of object, as a decoder into a new one would.
func fill(object client.Object, state *unstructured.Unstructured) error {
	if target, ok := object.(*unstructured.Unstructured); ok {
		target.Object = state.DeepCopy().Object
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(state.Object, object)
}

func listerWatcher(c client.WithWatch, gvk schema.GroupVersionKind, key client.ObjectKey) *cache.ListWatch {
	options := func(raw metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{
			Namespace:     key.Namespace,
			FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, key.Name),
			Raw:           &raw,
		}
	}
	list := func() *unstructured.UnstructuredList {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		return list
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			items := list()
			err := c.List(ctx, items, options(raw))
			return items, err
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, list(), options(raw))
		},
	}
}

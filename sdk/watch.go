// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// watches follows single objects, each by a watch of its own that names it. So
// nothing is held in memory that no schedule depends on, and an account may be
// given rights on some names only. The API server has an index of ConfigMaps and
// Secrets by name for such watches, which are those of every kubelet.
type watches struct {
	client  dynamic.Interface
	logger  logr.Logger
	running *sync.WaitGroup
}

// follow implements objectReads.follow.
func (w *watches) follow(ctx context.Context, ref objectRef, tell func(objectState)) {
	w.running.Go(func() { w.run(ctx, ref, tell) })
}

func (w *watches) run(ctx context.Context, ref objectRef, tell func(objectState)) {
	reflector := toolscache.NewReflectorWithOptions(w.source(ref), &unstructured.Unstructured{}, &lastSeen{ref: ref, tell: tell},
		toolscache.ReflectorOptions{Name: "sdk", Logger: new(w.logger), TypeDescription: ref.resource.Resource})
	backoff := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 1, Steps: 5, Cap: 30 * time.Second}
	said := ""
	// Until the object is let go, the only error is that of ctx.
	_ = backoff.DelayWithReset(clock.RealClock{}, 2*time.Minute).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := reflector.ListAndWatchWithContext(ctx)
		if err == nil || ctx.Err() != nil {
			return false, nil //nolint:nilerr // the object is let go, or the watch ended
		}
		if text := err.Error(); text != said {
			said = text
			w.logger.Info("cannot follow an object that a schedule depends on; trying again",
				"resource", ref.resource.GroupResource().String(), "namespace", ref.namespace, "name", ref.name, "error", text)
		}
		if definite(err) {
			tell(objectState{known: true, err: err})
		}
		return false, nil
	})
}

// definite reports whether the API server said that the object cannot be read.
// Anything else, such as an API server that is away, leaves what was known.
func definite(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// source lists and watches the one object.
func (w *watches) source(ref objectRef) toolscache.ListerWatcher {
	client := w.client.Resource(ref.resource).Namespace(ref.namespace)
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, ref.name).String()
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = name
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = name
			return client.Watch(ctx, options)
		},
	}, w.client)
}

// lastSeen is the store of a reflector of one object: it passes on what it is
// given. It implements toolscache.ReflectorStore.
type lastSeen struct {
	ref  objectRef
	tell func(objectState)
}

func (s *lastSeen) Add(object any) error { return s.seen(object) }

func (s *lastSeen) Update(object any) error { return s.seen(object) }

func (s *lastSeen) Delete(any) error {
	s.tell(objectState{known: true})
	return nil
}

func (s *lastSeen) Replace(objects []any, _ string) error {
	for _, object := range objects {
		return s.seen(object) // there is one of the name, or none
	}
	return s.Delete(nil)
}

func (*lastSeen) Resync() error { return nil }

func (s *lastSeen) seen(object any) error {
	seen, ok := object.(*unstructured.Unstructured)
	if !ok || seen.GetName() != s.ref.name {
		return fmt.Errorf("the API server answers with another object than the %s %q", s.ref.resource.Resource, s.ref.name)
	}
	seen.SetManagedFields(nil)
	s.tell(objectState{known: true, object: seen})
	return nil
}

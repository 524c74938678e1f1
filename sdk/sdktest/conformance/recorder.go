// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// state is an object as the API server had it.
type state struct {
	*unstructured.Unstructured

	// gone says that it was deleted, and the object is the last one.
	gone bool
	// at is when the state was seen, by the kit's clock.
	at time.Time
}

// recorder keeps every state of every object of the kind in one namespace, in
// order. It watches, so it misses none.
type recorder struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	states  map[string][]state
	failure error
	changed chan struct{} // closed and replaced at each change
}

func newRecorder(c clock.PassiveClock) *recorder {
	return &recorder{clock: c, states: map[string][]state{}, changed: make(chan struct{})}
}

// start records until ctx ends. The objects that exist already are not recorded.
func (r *recorder) start(ctx context.Context, c client.WithWatch, list *unstructured.UnstructuredList, namespace string) error {
	if err := c.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return fmt.Errorf("listing objects of the kind: %w", err)
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, emptyLike(list), &client.ListOptions{Namespace: namespace, Raw: &raw})
		},
	})
	if err != nil {
		return fmt.Errorf("watching objects of the kind: %w", err)
	}
	go r.follow(watcher)
	return nil
}

func emptyLike(list *unstructured.UnstructuredList) *unstructured.UnstructuredList {
	empty := &unstructured.UnstructuredList{}
	empty.SetGroupVersionKind(list.GroupVersionKind())
	return empty
}

func (r *recorder) follow(watcher watch.Interface) {
	for event := range watcher.ResultChan() {
		r.record(event)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = errors.New("the watch on the kind ended")
	}
	r.tell()
}

func (r *recorder) record(event watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.tell()
	switch event.Type {
	case watch.Added, watch.Modified, watch.Deleted:
		if object, ok := event.Object.(*unstructured.Unstructured); ok {
			name := object.GetName()
			r.states[name] = append(r.states[name], state{object, event.Type == watch.Deleted, r.clock.Now()})
		}
	case watch.Bookmark:
	case watch.Error:
		r.failure = fmt.Errorf("the watch on the kind failed: %w", errorOf(event.Object))
	}
}

func errorOf(object runtime.Object) error {
	if status, ok := object.(*metav1.Status); ok {
		return errors.New(status.Message)
	}
	return fmt.Errorf("of an object of type %T", object)
}

// tell wakes those who wait. The lock is held.
func (r *recorder) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// until returns when check returns true, and the cause of ctx when ctx ends
// before that. check is called with the lock held, and again at each change.
func (r *recorder) until(ctx context.Context, check func() bool) error {
	for {
		r.mu.Lock()
		done, failure, changed := check(), r.failure, r.changed
		r.mu.Unlock()
		switch {
		case done:
			return nil
		case failure != nil:
			return failure
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// last returns the latest state of an object; nil if there was none.
func (r *recorder) last(name string) *state {
	if states := r.states[name]; len(states) > 0 {
		return &states[len(states)-1]
	}
	return nil
}

// history returns the states of an object so far.
func (r *recorder) history(name string) []state {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]state(nil), r.states[name]...)
}

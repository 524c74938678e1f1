// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// listTimeout bounds a list from the request to the last byte.
const listTimeout = time.Minute

// pageSize is how many objects are asked for at once.
const pageSize = 500

// follower keeps a view of some objects by list and watch, again and again with
// client-go's back-off for as long as either fails. The watch is also the sign
// of health: it stands while the server is well, and its end is noticed.
type follower struct {
	// list and watch ask the server.
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// admit takes from a new or changed object, in place, what is not kept, and reports
	// whether there is room for the rest. May be nil.
	admit func(runtime.Object) bool
	// kind is an example of the objects.
	kind runtime.Object
	// store is told of the objects.
	store cache.ReflectorStore
	// classify says in our own words why list or watch failed.
	classify func(error) *fault
	// health is called with nil when a watch stands, and with the fault when it,
	// or the list before it, fails.
	health func(*fault)
	// longest is how long a watch lasts at most.
	longest time.Duration

	mu       sync.Mutex
	endWatch context.CancelFunc // of the last watch that stood
}

// run follows until ctx ends.
func (f *follower) run(ctx context.Context, name string) {
	reflector := cache.NewReflectorWithOptions(f, f.kind, f.store, cache.ReflectorOptions{Name: name})
	reflector.WatchListPageSize = pageSize
	reflector.RunWithContext(ctx)
}

// probe ends the watch that stands, so that the next one shows whether the
// server is well.
func (f *follower) probe() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.endWatch != nil {
		f.endWatch()
	}
}

// IsWatchListSemanticsUnSupported keeps client-go from streaming the list: a
// workload cluster may be of any version, and an old one never ends such a list.
func (f *follower) IsWatchListSemanticsUnSupported() bool { return true }

// List implements cache.ListerWatcher.
func (f *follower) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (f *follower) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (f *follower) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, err := f.list(ctx, options)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	return list, nil
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (f *follower) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithTimeout(ctx, f.longest)
	events, err := f.watch(ctx, options)
	if err != nil {
		why := f.failed(ctx, err) // which asks whether it was ctx that ended
		cancel()
		return nil, why
	}
	f.probe() // frees what is left of the last one
	f.mu.Lock()
	f.endWatch = cancel
	f.mu.Unlock()
	f.health(nil)
	return newFiltered(events, f.filter), nil
}

// filter strips an error that the server sends of its words, and lets no more
// objects pass than there is room for: with one too many the watch ends as if it had
// expired, so that a list tells whether all of them are too many.
func (f *follower) filter(event watch.Event) watch.Event {
	status, failed := event.Object.(*metav1.Status)
	switch {
	case failed:
		event.Object = &metav1.Status{Status: status.Status, Code: status.Code, Reason: status.Reason, Message: "the watch ended with an error"}
	case event.Type != watch.Added && event.Type != watch.Modified, f.admit == nil:
	case !f.admit(event.Object):
		full := apierrors.NewResourceExpired("there is no room for more").Status()
		event = watch.Event{Type: watch.Error, Object: &full}
	}
	return event
}

// failed reports a failure, unless it is part of the protocol or of stopping, and
// returns it without the server's words.
func (f *follower) failed(ctx context.Context, err error) error {
	why := f.classify(err)
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	if !errors.Is(ctx.Err(), context.Canceled) && !expired {
		f.health(why)
	}
	return why
}

var _ cache.ListerWatcherWithContext = (*follower)(nil)

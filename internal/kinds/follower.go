// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// follower is the informer of one kind at one version.
type follower[T Object] struct {
	store    *Store[T]
	kind     Kind
	version  string
	informer cache.SharedIndexInformer
	synced   atomic.Bool
	failure  atomic.Pointer[error]
	// stop ends run; it does not wait for it.
	stop context.CancelFunc
	// before is the follower that this one replaces, with its last view, until this
	// one has synced; nil if there is none. The store's lock guards it.
	before *follower[T]
}

func newFollower[T Object](store *Store[T], kind Kind) (*follower[T], error) {
	f := &follower[T]{store: store, kind: kind, version: store.options.Version(kind)}
	var err error
	f.informer, err = newInformer(store.options.Client, kind.Resource(f.version), f.reduce, cache.Indexers{groups: f.groupsOf})
	if err != nil {
		return nil, fmt.Errorf("making the informer of %s: %w", kind.GroupKind, err)
	}
	if err := f.informer.SetWatchErrorHandlerWithContext(f.failed); err != nil {
		return nil, fmt.Errorf("making the informer of %s: %w", kind.GroupKind, err)
	}
	return f, nil
}

func (f *follower[T]) reduce(object any) (any, error) {
	if whole, ok := object.(*unstructured.Unstructured); ok {
		return f.store.options.Reduce(whole), nil
	}
	return object, nil
}

// follows reports whether what the follower has are objects of the kind as it is
// installed now, at whichever version.
func (f *follower[T]) follows(kind Kind) bool {
	return f.kind.UID == kind.UID && f.kind.Plural == kind.Plural
}

// view returns the follower to read from: this one, or the one that it replaces
// as long as it has not synced.
func (f *follower[T]) view() *follower[T] {
	if f.before != nil && !f.synced.Load() {
		return f.before
	}
	return f
}

// stopUnserved stops the followers whose version is served no more. Their views
// stay.
func (f *follower[T]) stopUnserved(kind Kind) {
	for ; f != nil; f = f.before {
		if !slices.Contains(kind.Served, f.version) {
			f.stop()
		}
	}
}

// end stops the follower, and the one that it replaces.
func (f *follower[T]) end() {
	for ; f != nil; f = f.before {
		f.stop()
	}
}

func (f *follower[T]) run(ctx context.Context) {
	registration, err := f.informer.AddEventHandler(handlers(func(object T) {
		meta := object.GetObjectMeta()
		f.store.notifyObject(f.kind.GroupKind, types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()})
	}, f.store.options.Same))
	if err != nil {
		f.store.options.Log.Error(err, "cannot follow a kind", "kind", f.kind.String())
		return
	}
	if _, err := f.informer.AddEventHandler(f.groupHandlers()); err != nil {
		f.store.options.Log.Error(err, "cannot follow the groups of a kind", "kind", f.kind.String())
		return
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			f.store.takeOver(f)
			f.store.notifyKind(f.kind.GroupKind)
		}
	}()
	f.informer.RunWithContext(ctx)
}

// failed remembers why the first list does not succeed. Once it has, the last
// view stays, whatever happens to the connection.
func (f *follower[T]) failed(ctx context.Context, reflector *cache.Reflector, err error) {
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
	// A CRD is established a moment before its resource is served.
	if f.synced.Load() || apierrors.IsNotFound(err) {
		return
	}
	if before := f.failure.Load(); before == nil || newFailure(*before, err) {
		f.failure.Store(&err)
		f.store.notifyKind(f.kind.GroupKind)
	}
}

func (f *follower[T]) get(name types.NamespacedName) Result[T] {
	if !f.synced.Load() {
		if failure := f.failure.Load(); failure != nil {
			return Result[T]{State: Unreadable, Err: *failure}
		}
		return Result[T]{State: Loading}
	}
	object, exists, err := f.informer.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return Result[T]{State: Absent}
	}
	typed, ok := object.(T)
	if !ok {
		return Result[T]{State: Absent}
	}
	return Result[T]{State: Present, Object: typed}
}

func (f *follower[T]) hasSeen(version string) bool {
	order, err := resourceversion.CompareResourceVersion(f.informer.GetStore().LastStoreSyncResourceVersion(), version)
	return err == nil && order >= 0
}

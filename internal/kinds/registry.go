// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Registry knows which custom resource kinds are installed.
type Registry struct {
	informer cache.SharedIndexInformer

	mu          sync.Mutex
	installed   map[schema.GroupKind]Kind
	synced      bool
	failure     error
	subscribers []func(schema.GroupKind)
}

// NewRegistry returns a registry that reads CRDs through the client once it is started.
func NewRegistry(client dynamic.Interface) (*Registry, error) {
	informer, err := newInformer(client, definitions, stripDefinition, nil)
	if err != nil {
		return nil, fmt.Errorf("making the informer of CustomResourceDefinitions: %w", err)
	}
	r := &Registry{informer: informer, installed: map[schema.GroupKind]Kind{}}
	if err := informer.SetWatchErrorHandlerWithContext(r.failed); err != nil {
		return nil, fmt.Errorf("making the informer of CustomResourceDefinitions: %w", err)
	}
	return r, nil
}

// Subscribe asks for a call whenever a kind is installed, changed or removed,
// and once with the empty kind when the registry first knows them all. The
// function must not block.
func (r *Registry) Subscribe(changed func(schema.GroupKind)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subscribers = append(r.subscribers, changed)
}

// Lookup returns a kind and whether it is installed: Present or NotInstalled,
// Loading until every CRD was seen once, and Unreadable with an error when the
// CRDs could not be listed even once. Until they were, nobody can say that a
// kind is not installed.
func (r *Registry) Lookup(kind schema.GroupKind) (Kind, State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, installed := r.installed[kind]; installed {
		return found, Present, nil
	}
	switch {
	case r.synced:
		return Kind{}, NotInstalled, nil
	case r.failure != nil:
		return Kind{}, Unreadable, r.failure
	}
	return Kind{}, Loading, nil
}

// Err says why the registry does not know the installed kinds yet; nil once it does.
func (r *Registry) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.synced:
		return nil
	case r.failure != nil:
		return fmt.Errorf("listing CustomResourceDefinitions: %w", r.failure)
	}
	return errors.New("the CustomResourceDefinitions are still being read")
}

// Installed returns every installed kind, in no order.
func (r *Registry) Installed() []Kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Kind, 0, len(r.installed))
	for _, kind := range r.installed {
		all = append(all, kind)
	}
	return all
}

// NeedLeaderElection tells the manager to run the registry on standbys too, so
// that they take over warm.
func (r *Registry) NeedLeaderElection() bool { return false }

// Start follows the CRDs until the context ends.
func (r *Registry) Start(ctx context.Context) error {
	registration, err := r.informer.AddEventHandler(r.handlers())
	if err != nil {
		return fmt.Errorf("watching CustomResourceDefinitions: %w", err)
	}
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			r.markSynced()
		}
	}()
	r.informer.RunWithContext(ctx)
	return nil
}

// handlers refresh the kind of each definition that comes, goes or changes. A
// definition that was replaced while nobody watched looks like one that has
// changed, and may have been another kind's.
func (r *Registry) handlers() cache.ResourceEventHandlerFuncs {
	all := handlers(func(d *definition) { r.refresh(d.kind.GroupKind) }, nil)
	update := all.UpdateFunc
	all.UpdateFunc = func(was, is any) {
		before, known := was.(*definition)
		if after, ok := is.(*definition); ok && known && before.kind.GroupKind != after.kind.GroupKind {
			r.refresh(before.kind.GroupKind)
		}
		update(was, is)
	}
	return all
}

func (r *Registry) markSynced() {
	r.mu.Lock()
	r.synced = true
	r.mu.Unlock()
	r.notify(schema.GroupKind{})
}

// failed remembers why the first list does not succeed. Once it has, the last
// view stays, whatever happens to the connection.
func (r *Registry) failed(ctx context.Context, reflector *cache.Reflector, err error) {
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
	r.mu.Lock()
	news := !r.synced && newFailure(r.failure, err)
	if news {
		r.failure = err
	}
	r.mu.Unlock()
	if news {
		r.notify(schema.GroupKind{})
	}
}

// refresh takes the kind's present definition from the informer's store, so
// that a late event never brings an earlier one back.
func (r *Registry) refresh(kind schema.GroupKind) {
	now, installed := r.stored(kind)
	r.mu.Lock()
	before, was := r.installed[kind]
	if installed {
		r.installed[kind] = now
	} else {
		delete(r.installed, kind)
	}
	r.mu.Unlock()
	if installed != was || !now.equal(before) {
		r.notify(kind)
	}
}

func (r *Registry) stored(kind schema.GroupKind) (Kind, bool) {
	for _, object := range r.informer.GetStore().List() {
		if d, ok := object.(*definition); ok && d.usable && d.kind.GroupKind == kind {
			return d.kind, true
		}
	}
	return Kind{}, false
}

func (r *Registry) notify(kind schema.GroupKind) {
	r.mu.Lock()
	subscribers := r.subscribers
	r.mu.Unlock()
	for _, changed := range subscribers {
		changed(kind)
	}
}

// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// watch follows the leases of the namespace until ctx ends.
func (r *Replica) watch(ctx context.Context, helpers *sync.WaitGroup) {
	leases := r.options.Client.Leases(r.options.Namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return leases.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return leases.Watch(ctx, o)
		},
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: lw,
		ObjectType:    &coordinationv1.Lease{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    r.seen,
			UpdateFunc: func(_, lease any) { r.seen(lease) },
			DeleteFunc: r.gone,
		},
	})
	helpers.Go(func() { informer.RunWithContext(ctx) })
	helpers.Go(func() {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.state.synced = true
		poke(r.changed)
	})
}

func (r *Replica) concerns(name string) bool {
	return name == r.options.Lease || strings.HasPrefix(name, LeasePrefix)
}

func (r *Replica) seen(object any) {
	lease, ok := object.(*coordinationv1.Lease)
	if !ok || !r.concerns(lease.Name) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.observe(lease, r.clock.Now())
	poke(r.changed)
	poke(r.renewed)
}

func (r *Replica) gone(object any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil || !r.concerns(name.Name) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.forget(name.Name)
	poke(r.changed)
}

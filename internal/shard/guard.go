// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Begin starts work on an object, if it is of a shard that this replica holds
// and is not about to let go: else ok is false, and whoever holds it sees to it.
// end must be called when the work is done; a shard that is to be let go waits
// for it.
//
// The context of the work is not ended by that of the caller, so that what was
// begun is finished when the controller is told to stop. It ends when the shard
// is lost, and before another replica can have it.
func (r *Replica) Begin(ctx context.Context, key types.NamespacedName) (work context.Context, end func(), ok bool) {
	shard := Of(key, r.options.Shards)
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.state.begin(shard, r.clock.Now())
	if h == nil {
		return nil, nil, false
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(h.context, cancel)
	return work, func() {
		unlink()
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.state.end(h)
		poke(r.changed)
	}, true
}

// Guard returns a reconciler that passes on the requests for objects of shards
// that the replica holds, and drops others. A nil replica stands for a
// controller without shards: everything is passed on.
//
// Either way a reconcile that has begun is finished when the controller is told
// to stop.
func Guard(r *Replica, inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if r == nil {
			return inner.Reconcile(context.WithoutCancel(ctx), request)
		}
		work, end, ok := r.Begin(ctx, request.NamespacedName)
		if !ok {
			return reconcile.Result{}, nil
		}
		defer end()
		return inner.Reconcile(work, request)
	})
}

// Source returns the replica as a source of reconcile requests, for a
// controller's WatchesRawSource: all objects of a shard are reconciled when it is
// gained. list returns the names of all objects there are.
//
// Of a gained shard, gained is told the objects before any of them is worked on;
// lost is told that a shard is not held any more. Either may be nil.
func (r *Replica) Source(list func(context.Context) ([]types.NamespacedName, error), gained func(shard int, keys []types.NamespacedName), lost func(shard int)) source.TypedSource[reconcile.Request] {
	if gained == nil {
		gained = func(int, []types.NamespacedName) {}
	}
	if lost == nil {
		lost = func(int) {}
	}
	return &shards{replica: r, list: list, gained: gained, lost: lost}
}

type shards struct {
	replica *Replica
	list    func(context.Context) ([]types.NamespacedName, error)
	gained  func(int, []types.NamespacedName)
	lost    func(int)
}

// Start implements source.Source.
func (s *shards) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.replica.mu.Lock()
	defer s.replica.mu.Unlock()
	s.replica.lost = s.lost
	s.replica.tell = func(ctx context.Context, shard int, ready func()) error {
		keys, err := s.of(ctx, shard)
		if err != nil {
			return err
		}
		s.gained(shard, keys)
		ready()
		// Listed again: what came up meanwhile was turned away.
		if keys, err = s.of(ctx, shard); err != nil {
			return err
		}
		for _, key := range keys {
			queue.Add(reconcile.Request{NamespacedName: key})
		}
		return nil
	}
	poke(s.replica.changed)
	return nil
}

// of returns the objects of a shard.
func (s *shards) of(ctx context.Context, shard int) ([]types.NamespacedName, error) {
	all, err := s.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the objects of shard %d: %w", shard, err)
	}
	var keys []types.NamespacedName
	for _, key := range all {
		if Of(key, s.replica.options.Shards) == shard {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// String names the source in the controller's logs.
func (s *shards) String() string { return "shards" }

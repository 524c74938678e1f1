// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Source returns the gate as a source of reconcile requests, for a controller's
// WatchesRawSource: whoever gets a place is reconciled.
//
// Unless list is nil, the gate expects the keys that it returns when the
// controller starts: see [Gate.Expect]. The controller itself then reconciles
// everything. With shards list is nil, and the gate is told of each shard that
// is gained.
func Source(g *Gate, list func(context.Context) ([]types.NamespacedName, error)) source.TypedSource[reconcile.Request] {
	return &gateSource{gate: g, list: list}
}

type gateSource struct {
	gate *Gate
	list func(context.Context) ([]types.NamespacedName, error)
}

// Start implements source.Source.
func (s *gateSource) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.gate.onWake(func(key types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: key}) })
	if s.list == nil {
		return nil
	}
	keys, err := s.list(ctx)
	if err != nil {
		return fmt.Errorf("listing what may hold a place among the machines that start: %w", err)
	}
	for partition, keys := range s.gate.divide(keys) {
		s.gate.Expect(partition, keys)
	}
	return nil
}

// String names the source in the controller's logs.
func (s *gateSource) String() string { return "places among the machines that start" }

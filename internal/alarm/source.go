// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Source returns the queue as a source of reconcile requests, for a
// controller's WatchesRawSource: the object of a key is reconciled when the key
// fires. The controller runs the queue; do not call Run as well.
func Source(q *Queue[types.NamespacedName]) source.TypedSource[reconcile.Request] {
	return alarms{q}
}

type alarms struct {
	queue *Queue[types.NamespacedName]
}

// Start runs the queue in the background until ctx is done.
func (a alarms) Start(ctx context.Context, requests workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	go a.queue.Run(ctx, func(name types.NamespacedName) {
		requests.Add(reconcile.Request{NamespacedName: name})
	})
	return nil
}

// String names the source in the controller's logs.
func (a alarms) String() string { return "alarms" }

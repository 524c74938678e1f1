// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// behind is how far what a start or a resync brings up ranks behind what has
// happened: more than any two priorities of objects differ.
const behind = 1000

// NewQueue returns a constructor of queues for controller.Options.NewQueue. Such
// a queue hands out the request with the highest priority first and, among
// equals, in the order in which they came. priorityOf is asked whenever a
// request is added, whatever the source; it must not block.
//
// What a controller is told of at its start, or by a resync, keeps its place
// behind whatever happens meanwhile, as with controller-runtime's own handlers,
// and is ordered by priority as well.
func NewQueue(log logr.Logger, priorityOf func(reconcile.Request) int) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		inner := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
			o.Log = log.WithValues("controller", name)
			o.RateLimiter = limiter
		})
		return &queue{PriorityQueue: inner, priorityOf: priorityOf}
	}
}

type queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	priorityOf func(reconcile.Request) int
}

// Add implements workqueue.TypedInterface.
func (q *queue) Add(request reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *queue) AddAfter(request reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, request)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *queue) AddRateLimited(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, request)
}

// AddWithOpts implements priorityqueue.PriorityQueue. A priority that the caller
// has set stays, but for controller-runtime's mark of what is not urgent.
func (q *queue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	initial := o.Priority != nil && *o.Priority == handler.LowPriority
	if o.Priority != nil && !initial {
		q.PriorityQueue.AddWithOpts(o, requests...)
		return
	}
	for _, request := range requests {
		priority := q.priorityOf(request)
		if initial {
			priority -= behind
		}
		o.Priority = &priority
		q.PriorityQueue.AddWithOpts(o, request)
	}
}

// SPDX-License-Identifier: Apache-2.0

package activation_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/internal/activation"
)

func request(name string) reconcile.Request { return reconcile.Request{NamespacedName: key(name)} }

var priorities = map[string]int{"high": 200, "middle": 50, "other": 50, "low": 0}

func newQueue(t *testing.T) priorityqueue.PriorityQueue[reconcile.Request] {
	t.Helper()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Nanosecond, time.Nanosecond)
	made := activation.NewQueue(logr.Discard(), func(r reconcile.Request) int { return priorities[r.Name] })("test", limiter)
	queue, ok := made.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok {
		t.Fatal("a controller would not take it for a priority queue")
	}
	t.Cleanup(queue.ShutDown)
	return queue
}

func take(queue priorityqueue.PriorityQueue[reconcile.Request], n int) []string {
	var names []string
	for range n {
		r, _, _ := queue.GetWithPriority()
		names = append(names, r.Name)
	}
	return names
}

func TestTheQueueHandsOutByPriority(t *testing.T) {
	low := handler.LowPriority
	tests := map[string]struct {
		add  func(priorityqueue.PriorityQueue[reconcile.Request])
		want []string
	}{
		"what happens": {
			add: func(q priorityqueue.PriorityQueue[reconcile.Request]) {
				for _, name := range []string{"low", "middle", "high", "other"} {
					q.Add(request(name))
				}
			},
			want: []string{"high", "middle", "other", "low"},
		},
		"what a start brings up": {
			add: func(q priorityqueue.PriorityQueue[reconcile.Request]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, request("low"), request("middle"), request("high"))
			},
			want: []string{"high", "middle", "low"},
		},
		"what happens goes before what a start brings up": {
			add: func(q priorityqueue.PriorityQueue[reconcile.Request]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, request("high"), request("middle"))
				q.Add(request("low"))
			},
			want: []string{"low", "high", "middle"},
		},
		"a priority that is given stays": {
			add: func(q priorityqueue.PriorityQueue[reconcile.Request]) {
				q.Add(request("high"))
				given := 1000
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &given}, request("low"))
			},
			want: []string{"low", "high"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			queue := newQueue(t)
			test.add(queue)
			if queue.Len() != len(test.want) {
				t.Fatalf("%d are ready, want %d", queue.Len(), len(test.want))
			}
			if diff := cmp.Diff(test.want, take(queue, len(test.want))); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetriesAndDelaysKeepThePriority(t *testing.T) {
	queue := newQueue(t)
	queue.AddAfter(request("high"), time.Nanosecond)
	if _, priority, _ := queue.GetWithPriority(); priority != 200 {
		t.Errorf("after a delay the priority is %d, want 200", priority)
	}
	queue.AddRateLimited(request("low"))
	if _, priority, _ := queue.GetWithPriority(); priority != 0 {
		t.Errorf("after a failure the priority is %d, want 0", priority)
	}
}

func TestTheSourceWakesWhoeverGetsAPlace(t *testing.T) {
	gate := activation.New(activation.Options{Limit: 1})
	queue := newQueue(t)
	list := func(context.Context) ([]types.NamespacedName, error) { return keys("up", "middle"), nil }
	if err := activation.Source(gate, list).Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if gate.Ask(key("middle"), 50, bell) {
		t.Fatal("it starts before what exists was heard of")
	}
	gate.Holds(key("up"))
	gate.Done(key("up"))
	if diff := cmp.Diff([]string{"middle"}, take(queue, 1)); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

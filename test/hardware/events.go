// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// AwaitEvent returns the first event about a ScheduledMachine that has the type
// and reason and whose note says all of the words.
func (c *Cluster) AwaitEvent(t testing.TB, sm *v1beta1.ScheduledMachine, kind, reason string, words ...string) *eventsv1.Event {
	t.Helper()
	var notes []string
	last, err := watchtools.UntilWithSync(Context(t), c.eventsOf(sm), &eventsv1.Event{}, nil, func(change watch.Event) (bool, error) {
		event, ok := change.Object.(*eventsv1.Event)
		if !ok || change.Type == watch.Deleted || event.Regarding.Name != sm.Name || event.Reason != reason {
			return false, nil
		}
		notes = append(notes, event.Type+" "+event.Note)
		return event.Type == kind && containsAll(event.Note, words), nil
	})
	if err != nil {
		t.Fatalf("no %s event %s says %q: %v; there were:\n%s", kind, reason, words, err, strings.Join(notes, "\n"))
	}
	event, _ := last.Object.(*eventsv1.Event)
	return event
}

func (c *Cluster) eventsOf(sm *v1beta1.ScheduledMachine) cache.ListerWatcher {
	options := func(raw metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: sm.Namespace, Raw: &raw}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			list := &eventsv1.EventList{}
			return list, c.Client().List(ctx, list, options(raw))
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return c.Client().Watch(ctx, &eventsv1.EventList{}, options(raw))
		},
	}
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

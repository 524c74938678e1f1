// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestOnlyTheEchoOfOurOwnWriteIsPassedOver(t *testing.T) {
	const (
		before = `{metadata: {uid: a, resourceVersion: "1", generation: 1, labels: {x: y}}, spec: {high: true}}`
		ours   = `{active: true, observedGeneration: 1}`
	)
	tests := []struct {
		name, after string
		// want is the pause after which the object is looked at; negative is never.
		want time.Duration
	}{
		{
			"our own write",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			-1,
		},
		{
			"what the server kept of our own write",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}}, status: {active: true}}`,
			-1,
		},
		{
			"a write of ours before the last one, late",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}}, status: {active: false, observedGeneration: 1}}`,
			-1,
		},
		{
			"somebody else's verdict",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}}, status: {active: false, observedGeneration: 1}}`,
			100 * time.Millisecond,
		},
		{
			"the status taken away",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}}}`,
			100 * time.Millisecond,
		},
		{
			"an edit",
			`{metadata: {uid: a, resourceVersion: "3", generation: 2, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
		{
			"a label",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: z}}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
		{
			"an annotation",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}, annotations: {a: b}}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
		{
			"a deletion that a finalizer holds up",
			`{metadata: {uid: a, resourceVersion: "3", generation: 1, labels: {x: y}, deletionTimestamp: "2026-06-15T12:00:00Z"}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
		{
			"another object of the same name",
			`{metadata: {uid: b, resourceVersion: "3", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
		{
			"a resync",
			`{metadata: {uid: a, resourceVersion: "1", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			written := newMemory()
			old := &unstructured.Unstructured{Object: parse(t, before)}
			base := old.DeepCopy()
			base.SetResourceVersion("2")
			written.sending(base, parse(t, ours))
			stored := old.DeepCopy()
			stored.SetResourceVersion("3")
			stored.Object["status"] = parse(t, `{active: true}`)
			written.stored(stored)
			requests := newRecordingQueue(t)
			newEventHandler(written).Update(t.Context(), event.TypedUpdateEvent[*unstructured.Unstructured]{
				ObjectOld: old,
				ObjectNew: &unstructured.Unstructured{Object: parse(t, test.after)},
			}, requests)
			var want []time.Duration
			if test.want >= 0 {
				want = []time.Duration{test.want}
			}
			if diff := cmp.Diff(want, requests.pauses); diff != "" {
				t.Errorf("looked at after (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADisagreementAboutTheStatusSlowsDownUntilAnEdit(t *testing.T) {
	requests := newRecordingQueue(t)
	h := newEventHandler(newMemory())
	send := func(before, after string) {
		h.Update(t.Context(), event.TypedUpdateEvent[*unstructured.Unstructured]{
			ObjectOld: &unstructured.Unstructured{Object: parse(t, before)},
			ObjectNew: &unstructured.Unstructured{Object: parse(t, after)},
		}, requests)
	}
	const (
		first  = `{metadata: {name: desk, resourceVersion: "1", generation: 1}}`
		theirs = `{metadata: {name: desk, resourceVersion: "2", generation: 1}, status: {active: false}}`
		edited = `{metadata: {name: desk, resourceVersion: "3", generation: 2}, status: {active: false}}`
	)
	for range 12 {
		send(first, theirs)
	}
	send(theirs, edited)
	send(first, theirs)
	want := []time.Duration{
		100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond,
		1600 * time.Millisecond, 3200 * time.Millisecond, 6400 * time.Millisecond, 12800 * time.Millisecond,
		25600 * time.Millisecond, 51200 * time.Millisecond, time.Minute, time.Minute,
		0, 100 * time.Millisecond,
	}
	if diff := cmp.Diff(want, requests.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

// recordingQueue notes after which pause each request was to be looked at.
type recordingQueue struct {
	requestQueue

	pauses []time.Duration
}

func newRecordingQueue(t *testing.T) *recordingQueue {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	return &recordingQueue{requestQueue: queue}
}

func (q *recordingQueue) Add(reconcile.Request) { q.pauses = append(q.pauses, 0) }

func (q *recordingQueue) AddAfter(_ reconcile.Request, pause time.Duration) {
	q.pauses = append(q.pauses, pause)
}

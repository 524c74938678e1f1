// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// A status that somebody else wrote is looked at soon, but ever later when
	// it goes on: two programs that disagree must not keep the API server busy.
	correctionBase = 100 * time.Millisecond
	correctionMax  = time.Minute
)

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// eventHandler has an object reconciled for every event but the echo of our own
// status writes.
type eventHandler struct {
	handler.TypedEnqueueRequestForObject[*unstructured.Unstructured]

	written     *memory
	corrections workqueue.TypedRateLimiter[types.NamespacedName]
}

func newEventHandler(written *memory) *eventHandler {
	return &eventHandler{
		written: written,
		corrections: workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](
			correctionBase, correctionMax),
	}
}

// Update implements handler.TypedEventHandler.
func (h *eventHandler) Update(
	ctx context.Context, e event.TypedUpdateEvent[*unstructured.Unstructured], requests requestQueue,
) {
	name := nameOf(e.ObjectNew)
	switch {
	case !onlyStatusChanged(e.ObjectOld, e.ObjectNew):
		h.corrections.Forget(name)
		h.TypedEnqueueRequestForObject.Update(ctx, e, requests)
	case !h.written.ours(e.ObjectNew):
		requests.AddAfter(reconcile.Request{NamespacedName: name}, h.corrections.When(name))
	}
}

// Delete implements handler.TypedEventHandler.
func (h *eventHandler) Delete(
	ctx context.Context, e event.TypedDeleteEvent[*unstructured.Unstructured], requests requestQueue,
) {
	h.corrections.Forget(nameOf(e.Object))
	h.TypedEnqueueRequestForObject.Delete(ctx, e, requests)
}

// onlyStatusChanged reports whether two states of a name differ, and differ in
// the status alone. An object that was deleted and created anew between two
// looks of the watch arrives as an update, with another UID.
func onlyStatusChanged(before, after *unstructured.Unstructured) bool {
	return before.GetUID() == after.GetUID() &&
		before.GetResourceVersion() != after.GetResourceVersion() &&
		before.GetGeneration() == after.GetGeneration() &&
		before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) &&
		reflect.DeepEqual(before.GetLabels(), after.GetLabels()) &&
		reflect.DeepEqual(before.GetAnnotations(), after.GetAnnotations())
}

// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// wakes has schedules evaluated again whose inputs changed. It is a source of
// requests, see sigs.k8s.io/controller-runtime/pkg/source.
type wakes struct {
	requests atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
}

// Start implements source.Source.
func (w *wakes) Start(_ context.Context, requests workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	w.requests.Store(&requests)
	return nil
}

// String names the source in the controller's logs.
func (*wakes) String() string { return "inputs" }

// wake has a schedule evaluated. It is called on account of an evaluation, and
// there is none before the controller has started its sources.
func (w *wakes) wake(schedule types.NamespacedName) {
	if requests := w.requests.Load(); requests != nil {
		(*requests).Add(reconcile.Request{NamespacedName: schedule})
	}
}

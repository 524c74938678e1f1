// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newManualSchedule returns an object to be filled. It stays JSON, and so
// whatever others wrote into it passes through unchanged, known to us or not.
func newManualSchedule() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{
		Group: "spotschedules.5spot.finos.org", Version: "v1alpha1", Kind: "ManualSchedule",
	})
	return object
}

// reconciler publishes in the status of each ManualSchedule what its spec says.
type reconciler struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile reads one object, decides, and writes its status if that differs.
// There is nothing to come back for: only an edit changes the decision.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	found := newManualSchedule()
	if err := r.client.Get(ctx, request.NamespacedName, found); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	decided := found.DeepCopy()
	if err := decide(decided, r.clock.Now()); err != nil {
		return ctrl.Result{}, err
	}
	if equality.Semantic.DeepEqual(found, decided) {
		return ctrl.Result{}, nil
	}
	// The patch holds what differs and no more. It replaces the conditions as a
	// whole, hence the lock: it is refused if somebody wrote in between.
	patch := client.MergeFromWithOptions(found, client.MergeFromWithOptimisticLock{})
	err := r.client.Status().Patch(ctx, decided, patch)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ctrl.Result{}, nil // the event that says so is on its way
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("publishing the decision: %w", err)
	}
	ctrl.LoggerFrom(ctx).Info("status published")
	return ctrl.Result{}, nil
}

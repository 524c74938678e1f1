// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/alarm"
	"github.com/fivespot/fivespot/internal/capi"
)

// Reconciler makes machines follow their schedules.
type Reconciler struct {
	client    client.Client     // reads ScheduledMachines from a cache that has seen our own writes
	cache     client.Reader     // reads what the watch has brought
	apiReader client.Reader     // reads from the API server
	dynamic   dynamic.Interface // writes Cluster API objects
	schedules scheduleReader
	children  childCache
	clusters  clusterCache
	allowed   capi.AllowedGroups
	workloads workloadClusters
	limits    limits
	gate      *activation.Gate
	clock     clock.PassiveClock
	alarms    *alarm.Queue[types.NamespacedName]
	events    events.EventRecorder
	metrics   *metrics
}

// Reconcile takes one ScheduledMachine one step towards what is wanted of it.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.gate.Begin(request.NamespacedName)
	sm, err := r.get(ctx, request.NamespacedName)
	if sm == nil || err != nil {
		return reconcile.Result{}, err
	}
	if sm.DeletionTimestamp.IsZero() && controllerutil.AddFinalizer(sm, v1beta1.Finalizer) {
		return reconcile.Result{}, r.addFinalizer(ctx, sm)
	}
	now := r.clock.Now()

	seen, err := r.observe(sm)
	if loading := new(loadingError); errors.As(err, &loading) {
		r.alarms.Set(request.NamespacedName, now.Add(loadingPatience))
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("looking at what exists: %w", err)
	}

	f := judge(sm, &seen, now, r.limits)
	r.metrics.judged(&f)
	if f.blind() {
		f.did = stepNone
		r.makeRoom(&f)
		return reconcile.Result{}, nil
	}
	r.takeTurn(&f)
	r.alarms.Set(request.NamespacedName, f.again)

	f.failure = r.act(ctx, &f)
	r.makeRoom(&f)
	switch {
	case errors.Is(f.failure, errChanged):
		r.metrics.reconciles.errors.WithLabelValues(errorConflict).Inc()
		r.alarms.Set(request.NamespacedName, earliest(f.again, now.Add(loadingPatience)))
		return reconcile.Result{}, nil
	case f.failure == nil && (f.did == stepRelease || f.did == stepAbandon):
		return reconcile.Result{}, nil
	}
	careless := r.tendNode(ctx, &f)
	return reconcile.Result{}, errors.Join(r.writeStatus(ctx, &f), retryable(f.failure), careless)
}

// loadingPatience bounds how long a reconcile relies on being woken by a cache
// that is behind: its event can be lost when a watch is replaced by a list.
const loadingPatience = 10 * time.Second

// get returns the ScheduledMachine, or nil when it is gone or no longer ours to act for.
func (r *Reconciler) get(ctx context.Context, name types.NamespacedName) (*v1beta1.ScheduledMachine, error) {
	var sm v1beta1.ScheduledMachine
	err := r.client.Get(ctx, name, &sm)
	if apierrors.IsNotFound(err) {
		return nil, r.forget(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ScheduledMachine: %w", err)
	}
	if !sm.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(&sm, v1beta1.Finalizer) {
		return nil, r.forget(ctx, name)
	}
	return &sm, nil
}

// forget drops what is kept in memory of a ScheduledMachine that is gone. Where
// somebody took our finalizer away, its Machine may be left, for which Cluster API
// would wait for good.
func (r *Reconciler) forget(ctx context.Context, name types.NamespacedName) error {
	r.alarms.Clear(name)
	r.gate.Done(name)
	r.workloads.Release(name)
	machine, held := r.heldMachine(name)
	if !held {
		return nil
	}
	gone := &v1beta1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	return retryable(r.letGo(ctx, gone, machine))
}

func (r *Reconciler) addFinalizer(ctx context.Context, sm *v1beta1.ScheduledMachine) error {
	before := sm.DeepCopy()
	controllerutil.RemoveFinalizer(before, v1beta1.Finalizer)
	return r.patchFinalizers(ctx, before, sm)
}

// retryable drops failures that a retry cannot help: an event will wake us.
func retryable(failure error) error {
	for _, woken := range []error{errGoing, errConnecting, errNodeUnseen, errChanged} {
		if errors.Is(failure, woken) {
			return nil
		}
	}
	return failure
}

// writeStatus patches the status if it says anything new.
func (r *Reconciler) writeStatus(ctx context.Context, f *facts) error {
	after := f.sm.DeepCopy()
	after.Status = describe(*f)
	if equality.Semantic.DeepEqual(f.sm.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(f.sm, client.MergeFromWithOptimisticLock{})
	err := r.client.Status().Patch(ctx, after, patch, client.FieldOwner(v1beta1.FieldManager))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	r.metrics.wrote(f, &after.Status)
	r.announce(f, &after.Status)
	return nil
}

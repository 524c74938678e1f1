// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/internal/alarm"
)

const (
	// A write that failed is tried again soon: the verdict is known and waits
	// for nothing but the API server.
	writeBackoffBase = 50 * time.Millisecond
	writeBackoffMax  = 10 * time.Second
	// behindTries is how often, some seconds in all, an object is left for the watch to
	// bring our last write to it. What comes after that is refused by the API server
	// where it is made from an older state.
	behindTries = 6
)

// reconciler brings the status of one object up to date.
type reconciler struct {
	kind     schema.GroupVersionKind
	evaluate evaluator
	clock    clock.Clock
	// reader is the cache of the kind, writer the API server.
	reader client.Reader
	writer client.StatusClient
	alarms *alarm.Queue[types.NamespacedName]
	inputs *inputs
	// evaluations and conflicts count failures in a row, per object; conflicts also the
	// looks at one that is behind, which a write would fail for.
	evaluations workqueue.TypedRateLimiter[types.NamespacedName]
	conflicts   workqueue.TypedRateLimiter[types.NamespacedName]
	written     *memory
	measures    *measures
}

func newReconciler(p *Provider, reader client.Reader, writer client.StatusClient, inputs *inputs, m *measures) *reconciler {
	return &reconciler{
		kind:     p.kind,
		evaluate: p.evaluate,
		clock:    p.options.clock,
		reader:   reader,
		writer:   writer,
		alarms:   alarm.New[types.NamespacedName](p.options.clock),
		inputs:   inputs,
		evaluations: workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](
			p.options.backoffBase, p.options.backoffMax),
		conflicts: workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](
			writeBackoffBase, writeBackoffMax),
		written:  newMemory(),
		measures: m,
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	name := request.NamespacedName
	object, err := r.read(ctx, name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if object == nil {
		r.forget(name)
		return reconcile.Result{}, nil
	}
	if r.written.behind(object) && r.conflicts.NumRequeues(name) < behindTries {
		return reconcile.Result{RequeueAfter: r.conflicts.When(name)}, nil
	}
	now := r.clock.Now().Round(0).UTC()
	evaluation := newEvaluation(r.inputs, object, now)
	result := r.evaluate(evaluation.in(ctx), object, now)
	if !evaluation.end() {
		return reconcile.Result{}, nil // what is not known yet wakes the schedule when it is
	}
	if err := ctx.Err(); err != nil {
		// The process is stopping; what Evaluate said on that account is void.
		return reconcile.Result{}, nil //nolint:nilerr // a stop is no failure of the object
	}
	result = evaluation.redact(result)
	wake := r.plan(name, object, result)
	updated, err := r.write(ctx, object, nextStatus(rawStatus(object), object.GetGeneration(), result, now))
	if err != nil {
		return r.writeFailed(ctx, name, err)
	}
	r.conflicts.Forget(name)
	r.report(ctx, name, result, viewOf(object), viewOf(updated))
	return wake, nil
}

// read returns a copy of the object from the cache; nil when it does not exist.
func (r *reconciler) read(ctx context.Context, name types.NamespacedName) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(r.kind)
	err := r.reader.Get(ctx, name, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // nothing there is an answer, not an error
	case err != nil:
		return nil, fmt.Errorf("reading the schedule from the cache: %w", err)
	}
	return object, nil
}

// forget drops all that is kept about an object that is gone.
func (r *reconciler) forget(name types.NamespacedName) {
	r.alarms.Clear(name)
	r.inputs.forget(name)
	r.evaluations.Forget(name)
	r.conflicts.Forget(name)
	r.written.forget(name)
	r.measures.gone(name)
}

// plan arranges for the next evaluation that no edit causes: by alarm where an
// instant is known, after a pause where a failure may pass.
func (r *reconciler) plan(name types.NamespacedName, object *unstructured.Unstructured, result outcome) reconcile.Result {
	r.alarms.Set(name, result.until)
	observed, _ := rawStatus(object)[fieldObservedGeneration].(int64)
	if !result.retry || observed != object.GetGeneration() {
		r.evaluations.Forget(name)
	}
	if result.retry {
		return reconcile.Result{RequeueAfter: r.evaluations.When(name)}
	}
	return reconcile.Result{}
}

// write brings .status to what it is to be, and returns the object as it then
// is. It sends nothing when nothing changes.
func (r *reconciler) write(
	ctx context.Context, object *unstructured.Unstructured, status map[string]any,
) (*unstructured.Unstructured, error) {
	if reflect.DeepEqual(rawStatus(object), status) || r.written.settled(object, status) {
		return object, nil
	}
	updated := object.DeepCopy()
	updated.Object["status"] = status
	r.written.sending(object, status)
	// The lock makes the API server refuse a patch that was made from an older
	// state: the list of conditions is replaced as a whole, and whether active
	// flips depends on what it was.
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	if err := r.writer.Status().Patch(ctx, updated, patch); err != nil {
		return nil, err
	}
	r.written.stored(updated)
	return updated, nil
}

// writeFailed says what becomes of a status that could not be written.
func (r *reconciler) writeFailed(ctx context.Context, name types.NamespacedName, err error) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		log.FromContext(ctx).V(1).Info("the object changed meanwhile; looking again")
		return reconcile.Result{RequeueAfter: r.conflicts.When(name)}, nil
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && apierrors.IsNotFound(err):
		return reconcile.Result{}, fmt.Errorf(
			"patching the status: %w (does the CRD of %s enable the status subresource?)", err, r.kind.Kind)
	case apierrors.IsNotFound(err):
		// Deleted; the watch will say so.
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, fmt.Errorf("patching the status: %w", err)
}

// report tells metrics and log what came of it.
func (r *reconciler) report(ctx context.Context, name types.NamespacedName, result outcome, before, after view) {
	if !result.decided {
		r.measures.failed(after.reason)
	}
	if before.known && after.known && before.active != after.active {
		r.measures.flipped(name)
	}
	r.measures.published(name, after)

	logger := log.FromContext(ctx)
	if panicked := (*panicError)(nil); errors.As(result.cause, &panicked) {
		logger.Error(result.cause, "Evaluate panicked", "panic", fmt.Sprint(panicked.value), "stack", string(panicked.stack))
	}
	if result.decided && (!before.known || before.active != after.active) {
		logger.Info("published a verdict", "active", after.active, "reason", after.reason, "until", until(result))
	}
	switch {
	case !after.ready && (before.ready || before.reason != after.reason):
		logger.Info("the schedule is not ready; its last verdict stands", "reason", after.reason, "message", after.message)
	case after.ready && before.notReady:
		logger.Info("the schedule is ready again", "active", after.active, "reason", after.reason)
	}
}

func until(result outcome) string {
	if result.until.IsZero() {
		return "edited"
	}
	return timestamp(result.until)
}

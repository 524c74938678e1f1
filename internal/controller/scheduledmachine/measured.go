// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"errors"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// measured counts and times the reconciles of another reconciler.
type measured struct {
	inner   reconcile.Reconciler
	reader  client.Reader
	metrics *reconcileMetrics
	clock   clock.PassiveClock
}

// measured returns the reconciler with its reconciles counted and timed.
func (r *Reconciler) measured() reconcile.Reconciler {
	return &measured{inner: r, reader: r.cache, metrics: r.metrics.reconciles, clock: r.clock}
}

// Reconcile implements reconcile.Reconciler.
func (m *measured) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	phase, began := m.phase(ctx, request), m.clock.Now()
	result, err := m.inner.Reconcile(ctx, request)
	if err != nil {
		m.metrics.errors.WithLabelValues(errorType(err)).Inc()
	}
	if phase == "" {
		return result, err
	}
	outcome := reconciled
	if err != nil {
		outcome = notReconciled
	}
	m.metrics.total.WithLabelValues(phase, outcome).Inc()
	m.metrics.duration.WithLabelValues(phase).Observe(m.clock.Since(began).Seconds())
	return result, err
}

// phase returns the phase that a reconcile begins with; "" if there is no such
// ScheduledMachine any more.
func (m *measured) phase(ctx context.Context, request reconcile.Request) string {
	var sm v1beta1.ScheduledMachine
	if err := m.reader.Get(ctx, request.NamespacedName, &sm, client.UnsafeDisableDeepCopy); err != nil {
		return ""
	}
	return phaseName(sm.Status.Phase)
}

// reconcileMetrics are about reconciles, whatever they do.
type reconcileMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
}

func newReconcileMetrics() *reconcileMetrics {
	m := &reconcileMetrics{
		total: counter("reconciliations_total",
			"Reconciles of ScheduledMachines, by the phase they began with and by result: success or failure.", "phase", "result"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fivespot_reconciliation_duration_seconds",
			Help: "How long a reconcile of a ScheduledMachine took, by the phase it began with.",
		}, []string{"phase"}),
		errors: counter("errors_total", "Reconciles that failed, by the kind of error.", "error_type"),
	}
	for _, phase := range append([]v1beta1.Phase{""}, v1beta1.Phases...) {
		for _, result := range []string{reconciled, notReconciled} {
			m.total.WithLabelValues(phaseName(phase), result)
		}
	}
	for _, kind := range errorTypes {
		m.errors.WithLabelValues(kind)
	}
	return m
}

// How a reconcile ended.
const (
	reconciled    = "success"
	notReconciled = "failure"
)

// Kinds of errors.
const (
	errorTimeout    = "timeout"
	errorConflict   = "conflict"
	errorForbidden  = "forbidden"
	errorNotFound   = "not_found"
	errorValidation = "validation"
	errorKubeAPI    = "kube_api"
	errorCAPI       = "capi"
	errorOther      = "other"
)

var errorTypes = []string{
	errorTimeout, errorConflict, errorForbidden, errorNotFound, errorValidation, errorKubeAPI, errorCAPI, errorOther,
}

// errorType tells errors apart by what somebody would do about them. Of several
// that were joined, the first that is known decides.
func errorType(err error) string {
	var status apierrors.APIStatus
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return errorTimeout
	case apierrors.IsConflict(err):
		return errorConflict
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return errorForbidden
	case apierrors.IsNotFound(err):
		return errorNotFound
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return errorValidation
	case errors.As(err, &status):
		return errorKubeAPI
	case errors.As(err, &network) && network.Timeout():
		return errorTimeout
	case network != nil:
		return errorKubeAPI
	case errors.As(err, new(*foreignError)):
		return errorCAPI
	}
	return errorOther
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/drain"
)

// metrics of the controller. None of them names an object, so that none
// outlives one.
type metrics struct {
	resolutions *prometheus.CounterVec
	unresolved  *prometheus.CounterVec
	stale       *prometheus.CounterVec
	transitions *prometheus.CounterVec
	flaps       *prometheus.CounterVec
	drains      *prometheus.CounterVec
	failures    *prometheus.CounterVec
	abandoned   *prometheus.CounterVec
	evaluations *prometheus.CounterVec
	kills       *prometheus.CounterVec
	evictions   *prometheus.CounterVec
	reconciles  *reconcileMetrics
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fivespot", Name: name, Help: help}, labels)
}

// newMetrics makes the metrics and registers them.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := makeMetrics()
	for _, collector := range []prometheus.Collector{
		m.resolutions, m.unresolved, m.stale, m.transitions, m.flaps, m.drains, m.failures, m.abandoned,
		m.evaluations, m.kills, m.evictions, m.reconciles.total, m.reconciles.duration, m.reconciles.errors,
	} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	// A series that begins at 1 has not increased, as far as an alert can tell.
	m.abandoned.WithLabelValues()
	m.kills.WithLabelValues()
	for counts, results := range map[*prometheus.CounterVec][]string{
		m.drains:      {drainedInTime, drainCutShort},
		m.evaluations: {wantedUp, wantedDown},
		m.evictions:   {evictionAccepted, evictionRefused, evictionFailed},
	} {
		for _, result := range results {
			counts.WithLabelValues(result)
		}
	}
	return m, nil
}

func makeMetrics() *metrics {
	return &metrics{
		resolutions: counter("spot_schedule_resolutions_total",
			"Readings of a schedule object, by what they said: active, inactive or unresolved.", "namespace", "kind", "result"),
		unresolved: counter("spot_schedule_resolution_errors_total",
			"Readings of a schedule object that gave no verdict, by reason.", "namespace", "kind", "reason"),
		stale: counter("spot_schedule_stale_resolutions_total",
			"Readings of a schedule object whose status does not reflect its spec yet.", "namespace", "kind"),
		transitions: counter("spot_schedule_transitions_total",
			"Changes of the verdict on record.", "namespace", "kind"),
		flaps: counter("spot_schedule_flaps_total",
			"Times that a schedule began to change its verdict too often.", "namespace", "kind"),
		drains: counter("node_drains_total",
			"Drains of nodes that ended, by how: success, or timeout when they were cut short.", "result"),
		failures: counter("machine_failures_total",
			"Machines that failed and are replaced, by reason.", "namespace", "reason"),
		abandoned: counter("finalizer_cleanup_timeouts_total",
			"ScheduledMachines that were let go though not everything of them was gone."),
		evaluations: counter("schedule_evaluations_total",
			"Decisions by a schedule about a machine, by what they came to: active or inactive.", "result"),
		kills: counter("kill_switch_activations_total",
			"Times that spec.killSwitch took hold of a ScheduledMachine."),
		evictions: counter("pod_evictions_total",
			"Evictions asked for by the drains that are not Cluster API's, by the answer: success, refused or error.", "result"),
		reconciles: newReconcileMetrics(),
	}
}

// How a drain ended.
const (
	drainedInTime = "success"
	drainCutShort = "timeout"
)

// What a schedule wants of a machine.
const (
	wantedUp   = "active"
	wantedDown = "inactive"
)

// What came of asking a pod to go.
const (
	evictionAccepted = "success"
	evictionRefused  = "refused"
	evictionFailed   = "error"
)

// judged counts a reading of the schedule, and what was decided by it.
func (m *metrics) judged(f *facts) {
	if !f.seen.readingKnown {
		return
	}
	m.read(f.sm, f.seen.reading)
	switch {
	case !f.wanted.bySchedule:
	case f.wanted.up:
		m.evaluations.WithLabelValues(wantedUp).Inc()
	default:
		m.evaluations.WithLabelValues(wantedDown).Inc()
	}
}

// evicted counts the pods that a step of our own drain asked to go.
func (m *metrics) evicted(asked drain.Evictions) {
	for result, n := range map[string]int{
		evictionAccepted: asked.Accepted, evictionRefused: asked.Refused, evictionFailed: asked.Failed,
	} {
		m.evictions.WithLabelValues(result).Add(float64(n))
	}
}

// read counts a reading of a schedule.
func (m *metrics) read(sm *v1beta1.ScheduledMachine, reading contract.Reading) {
	kind := sm.Spec.Schedule.Kind
	result := map[contract.State]string{
		contract.Active: "active", contract.Inactive: "inactive", contract.Unresolved: "unresolved",
	}[reading.State]
	m.resolutions.WithLabelValues(sm.Namespace, kind, result).Inc()
	if !reading.Resolved() {
		m.unresolved.WithLabelValues(sm.Namespace, kind, reading.Reason).Inc()
	}
	if reading.Stale() {
		m.stale.WithLabelValues(sm.Namespace, kind).Inc()
	}
}

// wrote counts what a status says for the first time.
func (m *metrics) wrote(f *facts, after *v1beta1.ScheduledMachineStatus) {
	before, kind := &f.sm.Status, f.sm.Spec.Schedule.Kind
	if verdictOf(outlookOf(before)) != verdictOf(outlookOf(after)) {
		m.transitions.WithLabelValues(f.sm.Namespace, kind).Inc()
	}
	if newlyKilled(f.sm) {
		m.kills.WithLabelValues().Inc()
	}
	if flaps(after.Conditions) && !flaps(before.Conditions) {
		m.flaps.WithLabelValues(f.sm.Namespace, kind).Inc()
	}
	if now := after.MachineFailures; now != nil && (before.MachineFailures == nil || before.MachineFailures.Count < now.Count) {
		m.failures.WithLabelValues(f.sm.Namespace, f.fault.reason).Inc()
	}
	for _, happened := range drainHappenings(f, after) {
		switch happened.reason {
		case v1beta1.ReasonNodeDrained:
			m.drains.WithLabelValues(drainedInTime).Inc()
		case v1beta1.ReasonNodeDrainFailed:
			m.drains.WithLabelValues(drainCutShort).Inc()
		}
	}
}

// newlyKilled reports whether the switch is on and the status on record, which is
// about to be replaced, does not say so yet. An error in the condition Ready hides
// it; what has the generation of the spec was written by the switch all the same.
func newlyKilled(sm *v1beta1.ScheduledMachine) bool {
	ready := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionReady)
	switch {
	case !sm.Spec.KillSwitch:
		return false
	case ready == nil:
		return true
	}
	return ready.Reason != v1beta1.ReasonKillSwitchActivated && ready.ObservedGeneration != sm.Generation
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
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
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fivespot", Name: name, Help: help}, labels)
	}
	m := &metrics{
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
	}
	for _, collector := range []prometheus.Collector{m.resolutions, m.unresolved, m.stale, m.transitions, m.flaps, m.drains, m.failures, m.abandoned} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	// A series that begins at 1 has not increased, as far as an alert can tell.
	m.abandoned.WithLabelValues()
	for _, result := range []string{drainedInTime, drainCutShort} {
		m.drains.WithLabelValues(result)
	}
	return m, nil
}

// How a drain ended.
const (
	drainedInTime = "success"
	drainCutShort = "timeout"
)

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
	if flaps(after.Conditions) && !flaps(before.Conditions) {
		m.flaps.WithLabelValues(f.sm.Namespace, kind).Inc()
	}
	if now := after.MachineFailures; now != nil && (before.MachineFailures == nil || before.MachineFailures.Count < now.Count) {
		m.failures.WithLabelValues(f.sm.Namespace, f.fault.reason).Inc()
	}
	for _, happened := range drainHappenings(machineReady(before.Conditions), machineReady(after.Conditions), f.wanted.skipDrain) {
		switch happened.reason {
		case v1beta1.ReasonNodeDrained:
			m.drains.WithLabelValues(drainedInTime).Inc()
		case v1beta1.ReasonNodeDrainFailed:
			m.drains.WithLabelValues(drainCutShort).Inc()
		}
	}
}

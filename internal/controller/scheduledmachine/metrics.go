// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	}
	for _, collector := range []prometheus.Collector{m.resolutions, m.unresolved, m.stale, m.transitions} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
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

// wrote counts a change of the verdict once it is on record.
func (m *metrics) wrote(f *facts) {
	if !recorded(f.sm.Status.SpotSchedule, f.record) {
		m.transitions.WithLabelValues(f.sm.Namespace, f.sm.Spec.Schedule.Kind).Inc()
	}
}

// phases counts the machines by phase at the moment it is asked.
type phases struct {
	reader client.Reader
	desc   *prometheus.Desc
}

func newPhases(reader client.Reader) *phases {
	return &phases{reader: reader, desc: prometheus.NewDesc("fivespot_machines_by_phase",
		"ScheduledMachines in each phase.", []string{"phase"}, nil)}
}

// Describe implements prometheus.Collector.
func (p *phases) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- p.desc }

// Collect implements prometheus.Collector. It reports nothing while the cache
// cannot be read.
func (p *phases) Collect(collected chan<- prometheus.Metric) {
	var machines v1beta1.ScheduledMachineList
	if err := p.reader.List(context.Background(), &machines, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	counts := map[v1beta1.Phase]int{}
	for i := range machines.Items {
		counts[machines.Items[i].Status.Phase]++
	}
	for _, phase := range v1beta1.Phases {
		collected <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(counts[phase]), string(phase))
	}
}

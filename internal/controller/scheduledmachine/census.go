// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// census counts the ScheduledMachines at the moment it is asked.
type census struct {
	reader client.Reader

	active, byPhase, unresolved, flapping, failing *prometheus.Desc
}

func newCensus(reader client.Reader) *census {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &census{
		reader:  reader,
		active:  gauge("fivespot_machines_active", "ScheduledMachines whose machine runs."),
		byPhase: gauge("fivespot_machines_by_phase", "ScheduledMachines in each phase.", "phase"),
		unresolved: gauge("fivespot_machines_unresolved", "ScheduledMachines whose schedule gives no verdict now, by the kind of schedule and reason.",
			"namespace", "kind", "reason"),
		flapping: gauge("fivespot_machines_flapping", "ScheduledMachines whose schedule changes its verdict too often.", "namespace", "kind"),
		failing:  gauge("fivespot_machines_failing", "ScheduledMachines whose last Machine failed.", "namespace"),
	}
}

// Describe implements prometheus.Collector.
func (c *census) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{c.active, c.byPhase, c.unresolved, c.flapping, c.failing} {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector. It reports nothing while the cache
// cannot be read.
func (c *census) Collect(collected chan<- prometheus.Metric) {
	var machines v1beta1.ScheduledMachineList
	if err := c.reader.List(context.Background(), &machines, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	phases, others := map[v1beta1.Phase]int{}, map[counted]int{}
	for i := range machines.Items {
		sm := &machines.Items[i]
		phases[sm.Status.Phase]++
		c.count(sm, others)
	}
	collected <- prometheus.MustNewConstMetric(c.active, prometheus.GaugeValue, float64(phases[v1beta1.PhaseActive]))
	for _, phase := range v1beta1.Phases {
		collected <- prometheus.MustNewConstMetric(c.byPhase, prometheus.GaugeValue, float64(phases[phase]), string(phase))
	}
	for what, n := range others {
		collected <- c.metric(what, n)
	}
}

// counted is what a number of ScheduledMachines have in common.
type counted struct {
	description             *prometheus.Desc
	namespace, kind, reason string
}

func (c *census) count(sm *v1beta1.ScheduledMachine, numbers map[counted]int) {
	kind := sm.Spec.Schedule.Kind
	if schedule := sm.Status.SpotSchedule; schedule != nil && !schedule.Resolved {
		numbers[counted{c.unresolved, sm.Namespace, kind, schedule.Reason}]++
	}
	if flaps(sm.Status.Conditions) {
		numbers[counted{c.flapping, sm.Namespace, kind, ""}]++
	}
	if sm.Status.MachineFailures != nil {
		numbers[counted{c.failing, sm.Namespace, "", ""}]++
	}
}

func (c *census) metric(what counted, n int) prometheus.Metric {
	labels := map[*prometheus.Desc][]string{ // any of them may be empty: a status can be written by hand
		c.unresolved: {what.namespace, what.kind, what.reason},
		c.flapping:   {what.namespace, what.kind},
		c.failing:    {what.namespace},
	}[what.description]
	return prometheus.MustNewConstMetric(what.description, prometheus.GaugeValue, float64(n), labels...)
}

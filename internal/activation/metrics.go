// SPDX-License-Identifier: Apache-2.0

package activation

import "github.com/prometheus/client_golang/prometheus"

var (
	waitingDesc = prometheus.NewDesc("fivespot_activations_waiting",
		"Machines that are to start and wait for a place.", nil, nil)
	runningDesc = prometheus.NewDesc("fivespot_activations_running",
		"Machines that are coming up, each of which holds a place.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g *Gate) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- waitingDesc
	descriptions <- runningDesc
}

// Collect implements prometheus.Collector.
func (g *Gate) Collect(collected chan<- prometheus.Metric) {
	waiting, running := g.Counts()
	collected <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(waiting))
	collected <- prometheus.MustNewConstMetric(runningDesc, prometheus.GaugeValue, float64(running))
}

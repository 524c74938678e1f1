// SPDX-License-Identifier: Apache-2.0

package shard

import "github.com/prometheus/client_golang/prometheus"

var (
	shardsDesc = prometheus.NewDesc("fivespot_shards",
		"Shards that the work is divided into.", nil, nil)
	heldDesc = prometheus.NewDesc("fivespot_shards_held",
		"Shards that this replica holds and acts for.", nil, nil)
)

// Describe implements prometheus.Collector.
func (r *Replica) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- shardsDesc
	descriptions <- heldDesc
}

// Collect implements prometheus.Collector.
func (r *Replica) Collect(collected chan<- prometheus.Metric) {
	collected <- prometheus.MustNewConstMetric(shardsDesc, prometheus.GaugeValue, float64(r.options.Shards))
	collected <- prometheus.MustNewConstMetric(heldDesc, prometheus.GaugeValue, float64(r.Held()))
}

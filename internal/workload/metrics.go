// SPDX-License-Identifier: Apache-2.0

package workload

import "github.com/prometheus/client_golang/prometheus"

// Values of the label result.
const (
	resultManagement = "management"
	resultExplicit   = "child_explicit"
	resultAuto       = "child_auto"
	resultCacheHit   = "cache_hit"
	resultRebuild    = "rebuild"
	resultError      = "error"
)

// metrics of the workload clusters. None names an object.
type metrics struct {
	resolutions *prometheus.CounterVec
	errors      *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "fivespot", Name: name, Help: help}, labels)
	}
	m := &metrics{
		resolutions: counter("child_kubeconfig_resolutions_total",
			"Looks at a ScheduledMachine's workload cluster, by what they led to: "+
				"management, child_explicit, child_auto, cache_hit, rebuild or error.", "result"),
		errors: counter("child_kubeconfig_errors_total",
			"Times that a workload cluster went out of reach, by what was wrong: "+
				"secret_not_found, secret_missing_key, invalid_yaml, refused, non_404_kube_error, unreachable, kube_error or too_many.", "reason"),
	}
	for _, collector := range []prometheus.Collector{m.resolutions, m.errors} {
		if err := registry.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) resolved(result string) { m.resolutions.WithLabelValues(result).Inc() }

func (m *metrics) failed(reason string) { m.errors.WithLabelValues(reason).Inc() }

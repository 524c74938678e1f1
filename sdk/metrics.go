// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// measures are the metrics of one kind. No series outlives the object that it
// names.
type measures struct {
	kind        string
	active      *prometheus.GaugeVec
	ready       *prometheus.GaugeVec
	transitions *prometheus.CounterVec
	errors      *prometheus.CounterVec
	questions   *prometheus.CounterVec
	// ownActive and ownTransitions bear the kind's own name; nil when it has none.
	ownActive      *prometheus.GaugeVec
	ownTransitions *prometheus.CounterVec
}

// newMeasures registers the metrics, or takes those which another provider in
// the process has registered already.
func newMeasures(registry prometheus.Registerer, kind, ownName string) (*measures, error) {
	object := []string{"kind", "namespace", "name"}
	m := &measures{
		kind: kind,
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fivespot_schedule_active",
			Help: "The published verdict of a schedule: 1 active, 0 inactive.",
		}, object),
		ready: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fivespot_schedule_ready",
			Help: "Whether the verdict of a schedule is to be trusted now: 1 ready, 0 not ready.",
		}, object),
		transitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fivespot_schedule_transitions_total",
			Help: "How often the published verdict of a schedule changed between active and inactive.",
		}, object),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fivespot_schedule_evaluation_errors_total",
			Help: "Evaluations that came to no verdict, by the reason of the Ready condition.",
		}, []string{"kind", "reason"}),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fivespot_schedule_questions_total",
			Help: "Times that a server outside of the cluster was to be asked: answered, refused, failed, or skipped.",
		}, []string{"kind", "result"}),
	}
	if ownName != "" {
		m.ownActive = prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "fivespot_" + ownName + "_active",
			Help: "The published verdict of a " + kind + ": 1 active, 0 inactive.",
		}, object[1:])
		m.ownTransitions = prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fivespot_" + ownName + "_transitions_total",
			Help: "How often the published verdict of a " + kind + " changed between active and inactive.",
		}, object[1:])
	}
	return m, m.register(registry)
}

func (m *measures) register(registry prometheus.Registerer) error {
	err := errors.Join(
		shared(registry, &m.active),
		shared(registry, &m.ready),
		shared(registry, &m.transitions),
		shared(registry, &m.errors),
		shared(registry, &m.questions),
	)
	if m.ownActive != nil {
		err = errors.Join(err, shared(registry, &m.ownActive), shared(registry, &m.ownTransitions))
	}
	return err
}

// shared registers a metric, or replaces it with its registered equal.
func shared[C prometheus.Collector](registry prometheus.Registerer, metric *C) error {
	err := registry.Register(*metric)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		if existing, ok := already.ExistingCollector.(C); ok {
			*metric = existing
			return nil
		}
	}
	return err
}

// failed counts an evaluation without a verdict.
func (m *measures) failed(reason string) {
	m.errors.WithLabelValues(m.kind, reason).Inc()
}

// asked counts an attempt to have a question answered.
func (m *measures) asked(result string) {
	m.questions.WithLabelValues(m.kind, result).Inc()
}

// published shows what now stands in an object's status.
func (m *measures) published(name types.NamespacedName, v view) {
	m.ready.WithLabelValues(m.kind, name.Namespace, name.Name).Set(number(v.ready))
	if !v.known {
		return
	}
	m.active.WithLabelValues(m.kind, name.Namespace, name.Name).Set(number(v.active))
	// The series starts at zero, so that a first transition is an increase.
	m.transitions.WithLabelValues(m.kind, name.Namespace, name.Name)
	if m.ownActive != nil {
		m.ownActive.WithLabelValues(name.Namespace, name.Name).Set(number(v.active))
		m.ownTransitions.WithLabelValues(name.Namespace, name.Name)
	}
}

// flipped counts a transition.
func (m *measures) flipped(name types.NamespacedName) {
	m.transitions.WithLabelValues(m.kind, name.Namespace, name.Name).Inc()
	if m.ownTransitions != nil {
		m.ownTransitions.WithLabelValues(name.Namespace, name.Name).Inc()
	}
}

// gone removes the series of an object that does not exist any more.
func (m *measures) gone(name types.NamespacedName) {
	m.active.DeleteLabelValues(m.kind, name.Namespace, name.Name)
	m.ready.DeleteLabelValues(m.kind, name.Namespace, name.Name)
	m.transitions.DeleteLabelValues(m.kind, name.Namespace, name.Name)
	if m.ownActive != nil {
		m.ownActive.DeleteLabelValues(name.Namespace, name.Name)
		m.ownTransitions.DeleteLabelValues(name.Namespace, name.Name)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

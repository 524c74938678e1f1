// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// seriesOf lists the series of the bench's metrics, but for their comments.
func seriesOf(t *testing.T, b *bench) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := b.measures.register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	var series []string
	for line := range strings.Lines(text.String()) {
		if !strings.HasPrefix(line, "#") {
			series = append(series, line)
		}
	}
	return strings.Join(series, "")
}

func TestMetricsFollowTheObjectAndGoWithIt(t *testing.T) {
	b := newBench(t)
	want := func(when, text string) {
		t.Helper()
		if got := seriesOf(t, b); got != strings.TrimLeft(text, "\n") {
			t.Errorf("%s:\n%s\nwant:%s", when, got, text)
		}
	}
	b.apply(`{spec: {high: true}}`)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{}, NotReady("NoGauge", errors.New("none")) }
	b.reconcile()
	want("before the first verdict", `
fivespot_schedule_evaluation_errors_total{kind="Tide",reason="NoGauge"} 1
fivespot_schedule_ready{kind="Tide",name="harbour",namespace="trading"} 0
`)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{Active: true}, nil }
	b.reconcile()
	b.reconcile()
	want("after the first verdict", `
fivespot_schedule_active{kind="Tide",name="harbour",namespace="trading"} 1
fivespot_schedule_evaluation_errors_total{kind="Tide",reason="NoGauge"} 1
fivespot_schedule_ready{kind="Tide",name="harbour",namespace="trading"} 1
fivespot_schedule_transitions_total{kind="Tide",name="harbour",namespace="trading"} 0
fivespot_tide_active{name="harbour",namespace="trading"} 1
fivespot_tide_transitions_total{name="harbour",namespace="trading"} 0
`)
	b.decide = func(*tide, time.Time) (Decision, error) { return Decision{}, nil }
	b.reconcile()
	b.reconcile()
	want("after a flip", `
fivespot_schedule_active{kind="Tide",name="harbour",namespace="trading"} 0
fivespot_schedule_evaluation_errors_total{kind="Tide",reason="NoGauge"} 1
fivespot_schedule_ready{kind="Tide",name="harbour",namespace="trading"} 1
fivespot_schedule_transitions_total{kind="Tide",name="harbour",namespace="trading"} 1
fivespot_tide_active{name="harbour",namespace="trading"} 0
fivespot_tide_transitions_total{name="harbour",namespace="trading"} 1
`)
	if err := b.server.Delete(t.Context(), b.get()); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	want("after its deletion", `
fivespot_schedule_evaluation_errors_total{kind="Tide",reason="NoGauge"} 1
`)
}

func TestKindsOfOneProcessShareTheCommonMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := newMeasures(registry, "Tide", "tide")
	if err != nil {
		t.Fatal(err)
	}
	second, err := newMeasures(registry, "Moon", "")
	if err != nil {
		t.Fatal(err)
	}
	if first.active != second.active || first.errors != second.errors {
		t.Error("two kinds do not share the metrics that all kinds have")
	}
	if _, err := newMeasures(registry, "Sun", "schedule"); err == nil {
		t.Error("a name of its own that clashes with the common metrics was accepted")
	}
}

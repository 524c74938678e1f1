// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster"
)

// BenchmarkActivation measures, by the API server's own audit log, the way from
// the toggle's patch to the Machine's creation, and counts what the controller
// and the provider ask of the API server for one activation (off and settled to
// node ready) and for one deactivation (node ready to nothing left).
func BenchmarkActivation(b *testing.B) {
	toggle(b, localcluster.Namespace, "bench", false)
	sm := machine(b, localcluster.Namespace, "bench", "bench")
	awaitPhase(b, sm, v1beta1.PhaseInactive)
	reader := audit(b)
	var latencies []time.Duration
	var up, down counts
	for b.Loop() {
		readAudit(b, reader)
		toggle(b, localcluster.Namespace, "bench", true)
		awaitPhase(b, sm, v1beta1.PhaseActive)
		log := readAudit(b, reader)
		latencies = append(latencies, toggleToMachine(b, log))
		up.add(log)
		toggle(b, localcluster.Namespace, "bench", false)
		awaitPhase(b, sm, v1beta1.PhaseInactive)
		down.add(readAudit(b, reader))
	}
	slices.Sort(latencies)
	n := float64(len(latencies))
	at := func(share float64) float64 {
		return float64(latencies[int(share*(n-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "ms-toggle-to-Machine-median")
	b.ReportMetric(at(0.99), "ms-toggle-to-Machine-p99")
	b.ReportMetric(float64(up.controller)/n, "controller-requests/activation")
	b.ReportMetric(float64(up.creates)/n, "creates/activation")
	b.ReportMetric(float64(up.statuses)/n, "status-patches/activation")
	b.ReportMetric(float64(up.provider)/n, "provider-requests/activation")
	b.ReportMetric(float64(down.controller)/n, "controller-requests/deactivation")
	b.ReportMetric(float64(down.statuses)/n, "status-patches/deactivation")
	b.ReportMetric(float64(down.provider)/n, "provider-requests/deactivation")
	b.ReportMetric(0, "ns/op") // mostly Cluster API's time
}

// toggleToMachine returns the time between the toggle's patch being answered
// and the Machine's creation being received.
func toggleToMachine(b *testing.B, log []devplane.AuditEvent) time.Duration {
	b.Helper()
	var toggled, created time.Time
	for _, event := range log {
		switch {
		case event.Resource == "manualschedules" && event.Subresource == "" && event.Verb == "patch":
			toggled = event.StageTimestamp
		case event.User == controllerUser && event.Resource == "machines" && event.Verb == "create":
			created = event.RequestReceived
		}
	}
	if toggled.IsZero() || created.IsZero() {
		b.Fatal("the audit log shows no toggle or no creation")
	}
	return created.Sub(toggled)
}

// counts are numbers of requests, without watches and events.
type counts struct{ controller, provider, creates, statuses int }

func (c *counts) add(log []devplane.AuditEvent) {
	for _, event := range log {
		if !ours(event) || event.Verb == "watch" || event.Resource == "events" {
			continue
		}
		if event.User == providerUser {
			c.provider++
			continue
		}
		c.controller++
		switch {
		case event.Verb == "create":
			c.creates++
		case event.Subresource == "status":
			c.statuses++
		}
	}
}

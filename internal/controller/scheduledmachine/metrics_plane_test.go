// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"testing"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// The controller as it is set up moves what it registers.
func TestMetricsOfAMachineThatIsKilled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm, _ := d.up("killed")
	d.patch(sm, "", `{"spec":{"killSwitch":true}}`)
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonKillSwitchActivated)
	d.stop() // after which nothing moves
	if got := d.measure("fivespot_kill_switch_activations_total", ""); got != 1 {
		t.Errorf("the switch counts %v, want 1", got)
	}
	for name, label := range map[string]string{
		"fivespot_reconciliations_total":           "Active",
		"fivespot_reconciliation_duration_seconds": "Pending",
		"fivespot_schedule_evaluations_total":      "active",
		"fivespot_spot_schedule_resolutions_total": "active",
	} {
		if got := d.measure(name, label); got == 0 {
			t.Errorf("%s of %s stays at zero", name, label)
		}
	}
}

// measure returns a metric of the controller: the sum of the counts of the series
// that have a label of the value, or of all for "".
func (d *desk) measure(name, label string) float64 {
	d.Helper()
	families, err := d.metrics.Gather()
	if err != nil {
		d.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			is := label == ""
			for _, pair := range metric.GetLabel() {
				is = is || pair.GetValue() == label
			}
			if is {
				sum += metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

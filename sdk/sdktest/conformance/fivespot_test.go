// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhatAScheduledMachineReports(t *testing.T) {
	const (
		resolved = `conditions: [{type: SpotScheduleResolved, status: "True", reason: Resolved, message: ok}]`
		held     = `conditions: [{type: SpotScheduleResolved, status: "False", reason: ProviderNotReady, message: no feed}]`
	)
	tests := map[string]struct {
		status   string
		resolved metav1.ConditionStatus
		active   bool
		reason   string
		missing  string
	}{
		"resolved, active":   {`{` + resolved + `, inSchedule: true, spotSchedule: {resolved: true, active: true}}`, "True", true, "Resolved", ""},
		"resolved, inactive": {`{` + resolved + `, inSchedule: false, spotSchedule: {resolved: true, active: false}}`, "True", false, "Resolved", ""},
		"held":               {`{` + held + `, inSchedule: true, spotSchedule: {resolved: false, active: true}}`, "False", true, "ProviderNotReady", ""},
		"not held":           {`{` + held + `, inSchedule: false, spotSchedule: {resolved: false, active: false}}`, "False", true, "", "the verdict that counts is to be true; status.inSchedule is false, and status.spotSchedule.active is false"},
		"forgotten":          {`{` + held + `, inSchedule: false, spotSchedule: {resolved: false}}`, "False", true, "", "the verdict that counts is to be true; status.inSchedule is false, and status.spotSchedule.active is absent"},
		"not followed":       {`{` + resolved + `, inSchedule: false, spotSchedule: {resolved: true, active: true}}`, "True", true, "", "the verdict that counts is to be true; status.inSchedule is false, and status.spotSchedule.active is true"},
		"not resolved":       {`{` + held + `, inSchedule: true, spotSchedule: {resolved: false, active: true}}`, "True", true, "", "SpotScheduleResolved is False, not True: ProviderNotReady: no feed"},
		"silent":             {`{}`, "True", true, "", "the ScheduledMachine says nothing of its schedule: does the 5-Spot controller run?"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reason, err := follows(objectWith(t, test.status), test.resolved, test.active)
			if reason != test.reason || text(err) != test.missing {
				t.Errorf("got %q and %q, want %q and %q", reason, text(err), test.reason, test.missing)
			}
		})
	}
}

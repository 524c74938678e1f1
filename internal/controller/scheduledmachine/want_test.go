// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
)

func TestPrecedenceOfKillSwitchOverEnabledOverVerdict(t *testing.T) {
	active, inactive := new(true), new(false)
	for name, test := range map[string]struct {
		kill    bool
		enabled *bool
		verdict *bool
		deleted bool
		want    want
	}{
		"active":               {verdict: active, want: want{up: true, bySchedule: true, reason: "ScheduleActive"}},
		"active, enabled":      {enabled: active, verdict: active, want: want{up: true, bySchedule: true, reason: "ScheduleActive"}},
		"inactive":             {verdict: inactive, want: want{bySchedule: true, reason: "ScheduleInactive", rest: "Inactive"}},
		"never a verdict":      {want: want{bySchedule: true, reason: "AwaitingSchedule", rest: "Inactive"}},
		"active, disabled":     {enabled: inactive, verdict: active, want: want{reason: "ScheduleDisabled", rest: "Disabled"}},
		"active, killed":       {kill: true, verdict: active, want: want{skipDrain: true, reason: "KillSwitchActivated", rest: "Terminated"}},
		"disabled and killed":  {kill: true, enabled: inactive, want: want{skipDrain: true, reason: "KillSwitchActivated", rest: "Terminated"}},
		"active, deleted":      {deleted: true, verdict: active, want: want{reason: "MachineDeleted", rest: "Terminated"}},
		"deleted and disabled": {deleted: true, enabled: inactive, want: want{reason: "MachineDeleted", rest: "Terminated"}},
		"deleted and killed":   {deleted: true, kill: true, want: want{skipDrain: true, reason: "KillSwitchActivated", rest: "Terminated"}},
	} {
		t.Run(name, func(t *testing.T) {
			sm := &v1beta1.ScheduledMachine{Spec: v1beta1.ScheduledMachineSpec{KillSwitch: test.kill, Enabled: test.enabled}}
			if test.deleted {
				sm.DeletionTimestamp = new(metav1.NewTime(noon))
			}
			if got := decide(sm, &outlook{SpotScheduleStatus: v1beta1.SpotScheduleStatus{Active: test.verdict}}); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

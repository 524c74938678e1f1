// SPDX-License-Identifier: Apache-2.0

package manual_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

func TestTheToggle(t *testing.T) {
	until := time.Date(2026, time.June, 15, 17, 0, 0, 500, time.UTC)
	tests := []struct {
		name string
		spec v1alpha1.ManualScheduleSpec
		now  time.Time
		want sdk.Decision
	}{
		{
			name: "off", now: until,
			want: sdk.Decision{Message: "manual toggle applied"},
		},
		{
			name: "on", spec: v1alpha1.ManualScheduleSpec{Enabled: true}, now: until,
			want: sdk.Decision{Active: true, Message: "manual toggle applied"},
		},
		{
			name: "on, for a reason", spec: v1alpha1.ManualScheduleSpec{Enabled: true, Reason: "release night"}, now: until,
			want: sdk.Decision{Active: true, Message: "manual toggle applied: release night"},
		},
		{
			name: "on until later", spec: v1alpha1.ManualScheduleSpec{Enabled: true, Until: &metav1.Time{Time: until}},
			now:  until.Add(-time.Nanosecond),
			want: sdk.Decision{Active: true, Until: until, Message: "manual toggle applied"},
		},
		{
			name: "on until now", spec: v1alpha1.ManualScheduleSpec{Enabled: true, Until: &metav1.Time{Time: until}},
			now:  until,
			want: sdk.Decision{Message: "manual toggle applied"},
		},
		{
			name: "off until now", spec: v1alpha1.ManualScheduleSpec{Until: &metav1.Time{Time: until}},
			now:  until.Add(365 * 24 * time.Hour),
			want: sdk.Decision{Active: true, Message: "manual toggle applied"},
		},
		{
			name: "until in another zone", spec: v1alpha1.ManualScheduleSpec{Until: &metav1.Time{Time: until.In(time.FixedZone("Tokyo", 9*3600))}},
			now:  until.Add(-time.Second),
			want: sdk.Decision{Until: until, Message: "manual toggle applied"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := manual.Evaluate(t.Context(), &v1alpha1.ManualSchedule{Spec: test.spec}, test.now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

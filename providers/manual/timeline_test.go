// SPDX-License-Identifier: Apache-2.0

package manual_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

func TestADayAtTheDesk(t *testing.T) {
	midnight := time.Date(2026, time.June, 15, 0, 0, 0, 0, time.UTC)
	at := func(hour, minute int) time.Time {
		return midnight.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	}
	timeline := sdktest.NewTimeline(t, manual.Provider(), at(6, 50))
	desk := func(spec v1alpha1.ManualScheduleSpec) {
		timeline.Apply(&v1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Name: "desk-override"}, Spec: spec})
	}
	desk(v1alpha1.ManualScheduleSpec{})
	timeline.AdvanceTo(at(7, 30))
	desk(v1alpha1.ManualScheduleSpec{Enabled: true, Until: &metav1.Time{Time: at(12, 0)}})
	timeline.AdvanceTo(at(11, 0)) // lunch is later today
	desk(v1alpha1.ManualScheduleSpec{Enabled: true, Until: &metav1.Time{Time: at(12, 30)}})
	timeline.AdvanceTo(at(13, 30)) // off by itself; on again until somebody says otherwise
	desk(v1alpha1.ManualScheduleSpec{Enabled: true, Reason: "release night"})
	timeline.AdvanceTo(at(22, 0)) // back at once, though the maintenance is over in an hour
	desk(v1alpha1.ManualScheduleSpec{Until: &metav1.Time{Time: at(23, 0)}, Reason: "maintenance"})
	timeline.AdvanceTo(at(24, 0))
	timeline.Golden("testdata/day.txt")
}

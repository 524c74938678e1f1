// SPDX-License-Identifier: Apache-2.0

package timebased

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

// The clock goes back in the night to Sunday, which is the longer by an hour; a
// mistake is made on Tuesday and repaired on Wednesday.
func TestAWeekOfNightsAndWeekendsInNewYork(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, newYork)
	}
	timeline := sdktest.NewTimeline(t, Provider(), at(time.October, 30, 12))
	apply := func(spec v1alpha1.TimeBasedSpotScheduleSpec) {
		timeline.Apply(&v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Name: "nights-and-weekends"}, Spec: spec})
	}
	nights := v1alpha1.TimeBasedSpotScheduleSpec{
		Timezone: new("America/New_York"),
		Windows: []v1alpha1.TimeWindow{
			{Days: []string{"mon-thu"}, Start: "18:30", End: "06:45"},
			{Days: []string{"sat", "sun"}, Start: "00:00", End: "24:00"},
		},
		ExceptDates: []string{"2026-11-04"},
	}
	apply(nights)
	timeline.AdvanceTo(at(time.November, 3, 20))
	mistaken := *nights.DeepCopy()
	mistaken.Windows[0].Days = []string{"mon-friyay"}
	apply(mistaken)
	timeline.AdvanceTo(at(time.November, 4, 9))
	apply(nights)
	timeline.AdvanceTo(at(time.November, 7, 12))
	timeline.Golden("testdata/week.txt")
}

// SPDX-License-Identifier: Apache-2.0

package capitalmarkets

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

// New York is closed on Thanksgiving Day and closes early on the day after. The
// rack is up before the bell and after it.
func TestTheWeekOfThanksgivingInNewYork(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, time.November, 23, 0, 0, 0, 0, newYork)
	timeline := sdktest.NewTimeline(t, Provider(), monday)
	timeline.Apply(&v1alpha1.CapitalMarketsSchedule{
		ObjectMeta: metav1.ObjectMeta{Name: "nyse"},
		Spec: v1alpha1.CapitalMarketsScheduleSpec{
			Exchange: "XNYS",
			LeadTime: "30m",
			LagTime:  "15m",
		},
	})
	timeline.AdvanceTo(monday.AddDate(0, 0, 8))
	timeline.Golden("testdata/thanksgiving.txt")
}

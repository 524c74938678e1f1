// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/sdktest"
)

func TestAMorning(t *testing.T) {
	eight := time.Date(2026, time.June, 15, 8, 0, 0, 0, time.UTC)
	timeline := sdktest.NewTimeline(t, sdk.New(kind, Evaluate), eight)
	desk := &ManualSchedule{ObjectMeta: metav1.ObjectMeta{Name: "desk-override"}}
	timeline.Apply(desk) // with a spec that says nothing
	for hour, enabled := range []bool{true, false} {
		timeline.AdvanceTo(eight.Add(time.Duration(hour+1) * time.Hour))
		desk.Spec.Enabled = &enabled
		timeline.Apply(desk)
	}
	timeline.AdvanceTo(eight.Add(3 * time.Hour))
	desk.Spec.Enabled = nil
	timeline.Apply(desk)
	timeline.Golden("testdata/morning.txt")
}

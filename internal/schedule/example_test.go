// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/internal/schedule"
)

// A night in Berlin that starts on Saturday at 22:30 and ends on Sunday at 06:15:
// an hour shorter when clocks go forward.
func Example() {
	berlin, err := schedule.LoadZone("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	days, err := schedule.ParseDays([]string{"sat"})
	if err != nil {
		fmt.Println(err)
		return
	}
	night, err := schedule.ParseWindow("22:30", "06:15")
	if err != nil {
		fmt.Println(err)
		return
	}
	week := schedule.NewWeekly(days.On([]schedule.Session{night}), nil)
	s := schedule.New(schedule.Sessions(berlin, week))

	at := time.Date(2026, time.March, 28, 12, 0, 0, 0, time.UTC)
	for range 2 {
		next, _ := s.NextChange(at)
		fmt.Println(berlin.Format(next), s.Active(next))
		at = next
	}
	// Output:
	// Sat 2026-03-28 22:30 CET true
	// Sun 2026-03-29 06:15 CEST false
}

// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"fmt"
	"time"

	"github.com/fivespot/fivespot/calendar"
)

func ExampleExchange_Session() {
	nyse, _ := calendar.Lookup("XNYS")
	day := calendar.NewDate(2026, time.November, 27)
	s, _ := nyse.Session(day)
	fmt.Println(s.Open, s.Close, s.Name)
	// Output: 09:30 13:00 Day after Thanksgiving
}

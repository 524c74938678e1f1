// SPDX-License-Identifier: Apache-2.0

// Package sdktest tests a provider without a cluster: a [Timeline] runs it on a
// clock that jumps from one boundary to the next, and shows what it published
// and when, as a text to read and to keep as a golden file.
//
//	func TestAWeekOfTides(t *testing.T) {
//		monday := time.Date(2026, time.June, 15, 0, 0, 0, 0, time.UTC)
//		timeline := sdktest.NewTimeline(t, sdk.New(tideKind, Evaluate), monday)
//		timeline.Apply(&TideSchedule{...})
//		timeline.AdvanceTo(monday.AddDate(0, 0, 7))
//		timeline.Golden("testdata/week.txt")
//	}
//
// What runs is the sdk's own code and yours, the same as in production; only the
// API server and the clock are in memory. So the text shows statuses, flips,
// retries after failures, the effect of other objects (see sdk.WithReads) and of
// questions (see sdk.Ask, whose Ask function is really called, at the instants at
// which it would be). A single decision needs none of this: Evaluate is a
// function, and a table tests it.
//
// It imports the sdk, the contract and go-cmp.
package sdktest

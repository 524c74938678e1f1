// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Sydney: the trading calendar of ASX, which follows the holidays of New South
// Wales that other states share. Anzac Day is not moved.
var xasx = definition{
	mic: "XASX", name: "Australian Securities Exchange", zone: "Australia/Sydney",
	regimes: []regime{weekdays(always, clock(10, 0), clock(16, 0))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(toMonday),
		fixed("Australia Day", time.January, 26).moved(toMonday),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		fixed("Anzac Day", time.April, 25),
		nth("King's Birthday", 2, time.Monday, time.June).since(2023),
		nth("Queen's Birthday", 2, time.Monday, time.June).through(2022),
		fixed("Christmas Day", time.December, 25).moved(twoDaysOn),
		fixed("Boxing Day", time.December, 26).moved(twoDaysOn),
	},
	closures: []closure{
		{on(2022, time.September, 22), "National Day of Mourning for Queen Elizabeth II", "ASX market announcement of 12 September 2022"},
	},
	// ASX's calendar for 2022 had no early closes.
	hours: closingAt(clock(14, 10), lastBeforeChristmas.except(2022), lastOfYear.except(2022)),
}

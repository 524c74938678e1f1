// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Dublin: the Irish Stock Exchange until 2018, part of Euronext since. Euronext's
// calendars for 2019 and 2020 dropped the early May bank holiday; those since
// 2021 have it again.
var xdub = definition{
	mic: "XDUB", name: "Euronext Dublin", zone: "Europe/Dublin",
	regimes: []regime{weekdays(always, clock(8, 0), clock(16, 28))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(toMonday),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		fixed("Labour Day", time.May, 1).since(2019),
		nth("Early May Bank Holiday", 1, time.Monday, time.May).except(2019, 2020),
		nth("June Bank Holiday", 1, time.Monday, time.June).through(2018),
		fixed("Christmas Day", time.December, 25).moved(twoDaysOn),
		fixed("St Stephen's Day", time.December, 26).moved(twoDaysOn),
	},
	closures: []closure{
		{on(2018, time.March, 2), "Storm Emma", "Irish Stock Exchange notice of 1 March 2018"},
	},
	hours: append(closingAt(clock(12, 28), lastBeforeChristmas, lastOfYear),
		dayHours{rule: once("Storm Emma", on(2018, time.March, 1)), close: clock(12, 28)}),
}

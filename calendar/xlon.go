// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// London: "Business days" of the London Stock Exchange, which are the bank
// holidays of England and Wales.
var xlon = definition{
	mic: "XLON", name: "London Stock Exchange", zone: "Europe/London",
	regimes: []regime{weekdays(always, clock(8, 0), clock(16, 30))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(toMonday),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		nth("Early May Bank Holiday", 1, time.Monday, time.May).except(2020),
		nth("Spring Bank Holiday", -1, time.Monday, time.May).except(2022),
		nth("Summer Bank Holiday", -1, time.Monday, time.August),
		fixed("Christmas Day", time.December, 25).moved(twoDaysOn),
		fixed("Boxing Day", time.December, 26).moved(twoDaysOn),
	},
	closures: []closure{
		{on(2020, time.May, 8), "Early May Bank Holiday (VE Day)", "Royal proclamation of 7 June 2019"},
		{on(2022, time.June, 2), "Spring Bank Holiday", "Royal proclamation of 7 July 2021"},
		{on(2022, time.June, 3), "Platinum Jubilee", "Royal proclamation of 7 July 2021"},
		{on(2022, time.September, 19), "State funeral of Queen Elizabeth II", "Royal proclamation of 10 September 2022"},
		{on(2023, time.May, 8), "Coronation of King Charles III", "Royal proclamation of November 2022"},
	},
	hours: closingAt(clock(12, 30), lastBeforeChristmas, lastOfYear),
}

var (
	lastBeforeChristmas = fixed("Last trading day before Christmas", time.December, 24).moved(toFriday)
	lastOfYear          = fixed("Last trading day of the year", time.December, 31).moved(toFriday)
)

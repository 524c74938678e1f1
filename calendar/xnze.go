// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Wellington: the trading hours and holidays of NZX, by the Holidays Act 2003.
var xnze = definition{
	mic: "XNZE", name: "New Zealand Exchange", zone: "Pacific/Auckland",
	regimes: []regime{weekdays(always, clock(10, 0), clock(16, 45))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(twoDaysOn),
		fixed("Day after New Year's Day", time.January, 2).moved(twoDaysOn),
		fixed("Waitangi Day", time.February, 6).moved(toMonday),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		fixed("Anzac Day", time.April, 25).moved(toMonday),
		nth("King's Birthday", 1, time.Monday, time.June).since(2023),
		nth("Queen's Birthday", 1, time.Monday, time.June).through(2022),
		matariki,
		nth("Labour Day", 4, time.Monday, time.October),
		fixed("Christmas Day", time.December, 25).moved(twoDaysOn),
		fixed("Boxing Day", time.December, 26).moved(twoDaysOn),
	},
	closures: []closure{
		{on(2022, time.September, 26), "Queen Elizabeth II Memorial Day", "Queen Elizabeth II Memorial Day Act 2022"},
	},
	hours: closingAt(clock(12, 45), lastBeforeChristmas, lastOfYear),
	until: on(2052, time.December, 31),
}

// matariki is on the Friday that the Te Kāhui o Matariki Public Holiday Act 2022,
// schedule 1, sets for each year up to 2052.
var matariki = rule{name: "Matariki", first: 2022, last: 2052, on: func(y int) Date {
	return matarikiFridays[y-2022]
}}

var matarikiFridays = []Date{
	on(2022, time.June, 24),
	on(2023, time.July, 14),
	on(2024, time.June, 28),
	on(2025, time.June, 20),
	on(2026, time.July, 10),
	on(2027, time.June, 25),
	on(2028, time.July, 14),
	on(2029, time.July, 6),
	on(2030, time.June, 21),
	on(2031, time.July, 11),
	on(2032, time.July, 2),
	on(2033, time.June, 24),
	on(2034, time.July, 7),
	on(2035, time.June, 29),
	on(2036, time.July, 18),
	on(2037, time.July, 10),
	on(2038, time.June, 25),
	on(2039, time.July, 15),
	on(2040, time.July, 6),
	on(2041, time.July, 19),
	on(2042, time.July, 11),
	on(2043, time.July, 3),
	on(2044, time.June, 24),
	on(2045, time.July, 7),
	on(2046, time.June, 29),
	on(2047, time.July, 19),
	on(2048, time.July, 3),
	on(2049, time.June, 25),
	on(2050, time.July, 15),
	on(2051, time.June, 30),
	on(2052, time.June, 21),
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Products of one futures exchange keep different holidays. These calendars are
// those of its broad financial products: closed on New Year, Good Friday and
// Christmas only, short on the other US holidays.
var usFuturesHolidays = []rule{
	fixed("New Year's Day", time.January, 1).moved(sundayToMonday),
	easter("Good Friday", -2),
	fixed("Christmas", time.December, 25).moved(nearest),
}

// Days on which US futures stop at midday.
var usFuturesShortDays = []rule{
	nth("Martin Luther King Jr. Day", 3, time.Monday, time.January),
	nth("Washington's Birthday", 3, time.Monday, time.February),
	nth("Memorial Day", -1, time.Monday, time.May),
	fixed("Independence Day", time.July, 4).moved(nearest),
	nth("Labor Day", 1, time.Monday, time.September),
	nth("Thanksgiving", 4, time.Thursday, time.November),
}

// A trading date begins on the evening before, so Monday's begins on Sunday.
var cmes = definition{
	mic: "CMES", name: "Chicago Mercantile Exchange", zone: "America/Chicago",
	regimes:  []regime{weekdays(always, eve(17), clock(17, 0))},
	holidays: usFuturesHolidays, closures: usMourning,
	hours: closingAt(clock(12, 0), append([]rule{
		fixed("Juneteenth", time.June, 19).since(2022).moved(nearest),
		nth("Thanksgiving", 4, time.Thursday, time.November).after(1, "Day after Thanksgiving"),
		fixed("Christmas Eve", time.December, 24),
	}, usFuturesShortDays...)...),
}

var iepa = definition{
	mic: "IEPA", name: "ICE Futures U.S.", zone: "America/New_York",
	regimes:  []regime{weekdays(always, eve(20), clock(18, 0))},
	holidays: usFuturesHolidays, closures: usMourning,
	hours: closingAt(clock(13, 0), usFuturesShortDays...),
}

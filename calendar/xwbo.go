// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Vienna: the stock exchange holidays of Wiener Börse. Five church holidays and
// Ascension became trading days in 2019, Whit Monday in 2023.
var xwbo = definition{
	mic: "XWBO", name: "Wiener Börse", zone: "Europe/Vienna",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: append([]rule{
		fixed("Epiphany", time.January, 6).through(2018),
		easter("Ascension Day", 39).through(2018),
		easter("Whit Monday", 50).through(2022),
		easter("Corpus Christi", 60).through(2018),
		fixed("Assumption Day", time.August, 15).through(2018),
		fixed("National Day", time.October, 26),
		fixed("All Saints' Day", time.November, 1).through(2018),
		fixed("Immaculate Conception", time.December, 8).through(2018),
		christmasEve, newYearsEve,
	}, euronextHolidays...),
	hours: closingAt(clock(14, 15), lastBeforeYearEnd.since(2017)),
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Warsaw: the days without a session that GPW announces each year.
var xwar = definition{
	mic: "XWAR", name: "Warsaw Stock Exchange", zone: "Europe/Warsaw",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 0))},
	holidays: append([]rule{
		fixed("Epiphany", time.January, 6),
		fixed("Constitution Day", time.May, 3),
		easter("Corpus Christi", 60),
		fixed("Armed Forces Day", time.August, 15),
		fixed("All Saints' Day", time.November, 1),
		fixed("Independence Day", time.November, 11),
		christmasEve, newYearsEve,
	}, euronextHolidays...),
	closures: []closure{
		{on(2018, time.January, 2), "Day after New Year", "GPW trading calendar 2018"},
		{on(2018, time.November, 12), "Centenary of independence", "Act of 7 November 2018, Dz.U. 2018 poz. 2117"},
	},
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Madrid: the trading calendar of BME.
var xmad = definition{
	mic: "XMAD", name: "Bolsa de Madrid", zone: "Europe/Madrid",
	regimes:  []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: euronextHolidays,
	closures: []closure{
		{on(2021, time.December, 24), "Christmas Eve", "BME trading calendar 2021"},
		{on(2021, time.December, 31), "New Year's Eve", "BME trading calendar 2021"},
	},
	hours: closingAt(clock(14, 0), christmasEve, newYearsEve),
}

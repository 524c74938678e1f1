// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Zurich: the trading calendar of SIX Swiss Exchange.
var xswx = definition{
	mic: "XSWX", name: "SIX Swiss Exchange", zone: "Europe/Zurich",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: append([]rule{
		fixed("Berchtold's Day", time.January, 2),
		easter("Ascension Day", 39),
		easter("Whit Monday", 50),
		fixed("Swiss National Day", time.August, 1),
		christmasEve, newYearsEve,
	}, euronextHolidays...),
}

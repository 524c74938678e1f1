// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// TSX: "Holiday schedule" of TMX Group.
var xtse = definition{
	mic: "XTSE", name: "Toronto Stock Exchange", zone: "America/Toronto",
	regimes: []regime{weekdays(always, clock(9, 30), clock(16, 0))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(toMonday),
		nth("Family Day", 3, time.Monday, time.February),
		easter("Good Friday", -2),
		// The Monday before 25 May.
		onOrAfter("Victoria Day", time.Monday, time.May, 18),
		fixed("Canada Day", time.July, 1).moved(toMonday),
		nth("Civic Holiday", 1, time.Monday, time.August),
		nth("Labour Day", 1, time.Monday, time.September),
		nth("Thanksgiving", 2, time.Monday, time.October),
		fixed("Christmas Day", time.December, 25).moved(twoDaysOn),
		fixed("Boxing Day", time.December, 26).moved(twoDaysOn),
	},
	hours: closingAt(clock(13, 0), fixed("Christmas Eve", time.December, 24)),
}

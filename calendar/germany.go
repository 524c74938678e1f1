// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// The trading calendar of Deutsche Börse. It closed on Whit Monday and on the Day
// of German Unity until 2021.
var (
	germanHolidays = append([]rule{
		easter("Whit Monday", 50).through(2021),
		fixed("Day of German Unity", time.October, 3).through(2021),
		christmasEve, newYearsEve,
	}, euronextHolidays...)
	germanClosures = []closure{
		{on(2017, time.October, 31), "Reformation Day (500th anniversary)", "Deutsche Börse trading calendar 2017"},
	}
	lastBeforeYearEnd = fixed("Last trading day of the year", time.December, 30).moved(toFriday)
)

var xetr = definition{
	mic: "XETR", name: "Xetra", zone: "Europe/Berlin",
	regimes:  []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: germanHolidays, closures: germanClosures,
	hours: closingAt(clock(14, 0), lastBeforeYearEnd),
}

var xfra = definition{
	mic: "XFRA", name: "Frankfurt Stock Exchange", zone: "Europe/Berlin",
	regimes:  []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: germanHolidays, closures: germanClosures,
	hours: closingAt(clock(14, 0), lastBeforeYearEnd),
}

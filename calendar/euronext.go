// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// The calendar that Euronext announces for its cash markets.
var (
	euronextHolidays = []rule{
		fixed("New Year's Day", time.January, 1),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		fixed("Labour Day", time.May, 1),
		fixed("Christmas Day", time.December, 25),
		fixed("Boxing Day", time.December, 26),
	}
	christmasEve = fixed("Christmas Eve", time.December, 24)
	newYearsEve  = fixed("New Year's Eve", time.December, 31)

	euronextHours  = []regime{weekdays(always, clock(9, 0), clock(17, 30))}
	euronextShorts = closingAt(clock(14, 5), christmasEve, newYearsEve)
)

var xpar = definition{
	mic: "XPAR", name: "Euronext Paris", zone: "Europe/Paris",
	regimes: euronextHours, holidays: euronextHolidays, hours: euronextShorts,
}

var xams = definition{
	mic: "XAMS", name: "Euronext Amsterdam", zone: "Europe/Amsterdam",
	regimes: euronextHours, holidays: euronextHolidays, hours: euronextShorts,
}

var xbru = definition{
	mic: "XBRU", name: "Euronext Brussels", zone: "Europe/Brussels",
	regimes: euronextHours, holidays: euronextHolidays, hours: euronextShorts,
}

// Lisbon trades with the others, an hour earlier by its own clocks.
var xlis = definition{
	mic: "XLIS", name: "Euronext Lisbon", zone: "Europe/Lisbon",
	regimes:  []regime{weekdays(always, clock(8, 0), clock(16, 30))},
	holidays: euronextHolidays,
	hours:    closingAt(clock(13, 5), christmasEve, newYearsEve),
}

// Milan is closed where the others have half a day.
var xmil = definition{
	mic: "XMIL", name: "Borsa Italiana", zone: "Europe/Rome",
	regimes: euronextHours,
	holidays: append([]rule{
		fixed("Assumption Day", time.August, 15), christmasEve, newYearsEve,
	}, euronextHolidays...),
}

// Oslo keeps Norway's holidays.
var xosl = definition{
	mic: "XOSL", name: "Euronext Oslo Børs", zone: "Europe/Oslo",
	regimes: []regime{weekdays(always, clock(9, 0), clock(16, 20))},
	holidays: append([]rule{
		easter("Maundy Thursday", -3),
		easter("Ascension Day", 39),
		easter("Whit Monday", 50),
		fixed("Constitution Day", time.May, 17),
		christmasEve, newYearsEve,
	}, euronextHolidays...),
	hours: closingAt(clock(13, 0), easter("Wednesday before Easter", -4)),
}

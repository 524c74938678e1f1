// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// The trading calendars of Nasdaq's Nordic exchanges.

// Friday of the midsummer weekend, 19 to 25 June.
var midsummerEve = onOrAfter("Midsummer Eve", time.Friday, time.June, 19)

var xsto = definition{
	mic: "XSTO", name: "Nasdaq Stockholm", zone: "Europe/Stockholm",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 30))},
	holidays: append([]rule{
		fixed("Epiphany", time.January, 6),
		easter("Ascension Day", 39),
		fixed("National Day", time.June, 6),
		midsummerEve, christmasEve, newYearsEve,
	}, euronextHolidays...),
	hours: closingAt(clock(13, 0),
		fixed("Day before Epiphany", time.January, 5),
		easter("Maundy Thursday", -3),
		fixed("Walpurgis Eve", time.April, 30),
		easter("Day before Ascension Day", 38),
		// All Saints' Day is the Saturday between 31 October and 6 November.
		onOrAfter("All Saints' Eve", time.Friday, time.October, 30),
	),
}

var xhel = definition{
	mic: "XHEL", name: "Nasdaq Helsinki", zone: "Europe/Helsinki",
	regimes: []regime{weekdays(always, clock(10, 0), clock(18, 30))},
	holidays: append([]rule{
		fixed("Epiphany", time.January, 6),
		easter("Ascension Day", 39),
		midsummerEve,
		fixed("Independence Day", time.December, 6),
		christmasEve, newYearsEve,
	}, euronextHolidays...),
}

// Denmark does not keep 1 May; it gave up the General Prayer Day in 2024.
var xcse = definition{
	mic: "XCSE", name: "Nasdaq Copenhagen", zone: "Europe/Copenhagen",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 0))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1),
		easter("Maundy Thursday", -3),
		easter("Good Friday", -2),
		easter("Easter Monday", 1),
		easter("General Prayer Day", 26).through(2023),
		easter("Ascension Day", 39),
		easter("Day after Ascension Day", 40),
		easter("Whit Monday", 50),
		fixed("Constitution Day", time.June, 5),
		christmasEve,
		fixed("Christmas Day", time.December, 25),
		fixed("Second Day of Christmas", time.December, 26),
		newYearsEve,
	},
}

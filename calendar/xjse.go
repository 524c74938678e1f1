// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// Johannesburg: the JSE closes on the official public holidays of South Africa
// (Public Holidays Act 36 of 1994), those that the President proclaims included.
var xjse = definition{
	mic: "XJSE", name: "JSE", zone: "Africa/Johannesburg",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 0))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1).moved(sundayToMonday),
		fixed("Human Rights Day", time.March, 21).moved(sundayToMonday),
		easter("Good Friday", -2),
		easter("Family Day", 1),
		fixed("Freedom Day", time.April, 27).moved(sundayToMonday),
		fixed("Workers' Day", time.May, 1).moved(sundayToMonday),
		fixed("Youth Day", time.June, 16).moved(sundayToMonday),
		fixed("National Women's Day", time.August, 9).moved(sundayToMonday),
		fixed("Heritage Day", time.September, 24).moved(sundayToMonday),
		fixed("Day of Reconciliation", time.December, 16).moved(sundayToMonday),
		fixed("Christmas Day", time.December, 25).moved(sundayToMonday),
		fixed("Day of Goodwill", time.December, 26).moved(sundayToMonday),
	},
	closures: []closure{
		{on(2016, time.August, 3), "Municipal elections", "Proclamation under section 2A, Public Holidays Act"},
		{on(2016, time.December, 27), "Public holiday in lieu of Christmas Day", "Proclamation under section 2A, Public Holidays Act"},
		{on(2019, time.May, 8), "General election", "Proclamation under section 2A, Public Holidays Act"},
		{on(2021, time.November, 1), "Municipal elections", "Proclamation of 11 October 2021 under section 2A, Public Holidays Act"},
		{on(2022, time.December, 27), "Public holiday in lieu of Christmas Day", "Proclamation under section 2A, Public Holidays Act"},
		{on(2024, time.May, 29), "General election", "Proclamation of 23 February 2024 under section 2A, Public Holidays Act"},
	},
}

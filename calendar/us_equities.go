// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// The holidays of NYSE Rule 7.2. A holiday on a Sunday is taken on Monday; one on
// a Saturday on Friday, unless that ends a month (the rule's accounting period):
// so a New Year's Day on a Saturday is lost.
var usHolidays = []rule{
	fixed("New Year's Day", time.January, 1).moved(sundayToMonday),
	nth("Martin Luther King Jr. Day", 3, time.Monday, time.January),
	nth("Washington's Birthday", 3, time.Monday, time.February),
	easter("Good Friday", -2),
	nth("Memorial Day", -1, time.Monday, time.May),
	fixed("Juneteenth", time.June, 19).since(2022).moved(nearest),
	fixed("Independence Day", time.July, 4).moved(nearest),
	nth("Labor Day", 1, time.Monday, time.September),
	nth("Thanksgiving", 4, time.Thursday, time.November),
	fixed("Christmas", time.December, 25).moved(nearest),
}

// The day before a holiday on which US equities stop at 13:00. Where the holiday
// itself moves onto that day there is no session to shorten.
var usEarlyCloses = closingAt(clock(13, 0),
	fixed("Day before Independence Day", time.July, 3),
	nth("Thanksgiving", 4, time.Thursday, time.November).after(1, "Day after Thanksgiving"),
	fixed("Christmas Eve", time.December, 24),
)

// National days of mourning, each announced by the exchange some days before.
var usMourning = []closure{
	{on(2018, time.December, 5), "National Day of Mourning for George H. W. Bush", "NYSE notice of 1 December 2018"},
	{on(2025, time.January, 9), "National Day of Mourning for Jimmy Carter", "NYSE notice of 30 December 2024"},
}

var usEquityHours = []regime{weekdays(always, clock(9, 30), clock(16, 0))}

var xnys = definition{
	mic: "XNYS", name: "New York Stock Exchange", zone: "America/New_York",
	regimes: usEquityHours, holidays: usHolidays, closures: usMourning, hours: usEarlyCloses,
}

// Nasdaq keeps the same days and hours (Nasdaq Equity 1, Section 1; Equity 4).
var xnas = definition{
	mic: "XNAS", name: "Nasdaq", zone: "America/New_York",
	regimes: usEquityHours, holidays: usHolidays, closures: usMourning, hours: usEarlyCloses,
}

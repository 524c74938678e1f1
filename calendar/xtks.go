// SPDX-License-Identifier: Apache-2.0

package calendar

import (
	"slices"
	"time"
)

// Tokyo: the holidays of Japan, the first three days of January and 31 December
// (Business Regulations of TSE, rule 19). The close moved to 15:30 with the
// trading system of November 2024.
var xtks = definition{
	mic: "XTKS", name: "Tokyo Stock Exchange", zone: "Asia/Tokyo",
	regimes: []regime{
		weekdays(always, clock(9, 0), clock(15, 0), tokyoLunch),
		weekdays(on(2024, time.November, 5), clock(9, 0), clock(15, 30), tokyoLunch),
	},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1),
		fixed("Market holiday", time.January, 2),
		fixed("Market holiday", time.January, 3),
		fixed("Market holiday", time.December, 31),
	},
	closures: []closure{
		{on(2020, time.October, 1), "Trading system failure", "TSE notice of 1 October 2020"},
	},
	japanese: true,
	// The equinox formula below holds until 2099.
	until: on(2099, time.December, 31),
}

var tokyoLunch = Break{clock(11, 30), clock(12, 30)}

// japaneseRules are the days of the Act on National Holidays (Act 178 of 1948),
// with the moves for the Olympic Games of 2020 and 2021.
var japaneseRules = []rule{
	fixed("New Year's Day", time.January, 1),
	nth("Coming of Age Day", 2, time.Monday, time.January),
	fixed("National Foundation Day", time.February, 11),
	fixed("Emperor's Birthday", time.February, 23).since(2020),
	{name: "Vernal Equinox Day", on: func(y int) Date { return equinox(y, time.March, 20.8431) }},
	fixed("Showa Day", time.April, 29),
	once("National Holiday", on(2019, time.April, 30)),
	once("Accession of the Emperor", on(2019, time.May, 1)),
	once("National Holiday", on(2019, time.May, 2)),
	fixed("Constitution Memorial Day", time.May, 3),
	fixed("Greenery Day", time.May, 4),
	fixed("Children's Day", time.May, 5),
	nth("Marine Day", 3, time.Monday, time.July).except(2020, 2021),
	once("Marine Day", on(2020, time.July, 23)),
	once("Marine Day", on(2021, time.July, 22)),
	fixed("Mountain Day", time.August, 11).since(2016).except(2020, 2021),
	once("Mountain Day", on(2020, time.August, 10)),
	once("Mountain Day", on(2021, time.August, 8)),
	nth("Respect for the Aged Day", 3, time.Monday, time.September),
	{name: "Autumnal Equinox Day", on: func(y int) Date { return equinox(y, time.September, 23.2488) }},
	nth("Health and Sports Day", 2, time.Monday, time.October).through(2019),
	nth("Sports Day", 2, time.Monday, time.October).since(2022),
	once("Sports Day", on(2020, time.July, 24)),
	once("Sports Day", on(2021, time.July, 23)),
	once("Enthronement Ceremony", on(2019, time.October, 22)),
	fixed("Culture Day", time.November, 3),
	fixed("Labour Thanksgiving Day", time.November, 23),
	fixed("Emperor's Birthday", time.December, 23).through(2018),
}

// equinox is the formula of the Hydrographic Department of Japan, good for 1980
// to 2099.
func equinox(y int, month time.Month, in1980 float64) Date {
	return NewDate(y, month, int(in1980+0.242194*float64(y-1980))-(y-1980)/4)
}

// japaneseHolidays returns the national holidays of a year with the days that
// article 3 adds: for a holiday on a Sunday the next day that is none, and a day
// that has a holiday on both sides.
func japaneseHolidays(y int) []Holiday {
	var out []Holiday
	isHoliday := map[Date]bool{}
	for _, r := range japaneseRules {
		if d, ok := r.in(y); ok {
			isHoliday[d] = true
			out = append(out, Holiday{Date: d, Name: r.name})
		}
	}
	for _, h := range slices.Clip(out) {
		if h.Date.Weekday() == time.Sunday {
			d := h.Date.AddDays(1)
			for isHoliday[d] {
				d = d.AddDays(1)
			}
			out = append(out, Holiday{Date: d, Name: h.Name + " (in lieu)"})
		}
		if between := h.Date.AddDays(1); !isHoliday[between] && isHoliday[h.Date.AddDays(2)] {
			out = append(out, Holiday{Date: between, Name: "National Holiday"})
		}
	}
	return out
}

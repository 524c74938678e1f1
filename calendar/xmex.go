// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// BMV: the days on which the CNBV has financial entities close ("Disposiciones de
// carácter general que señalan los días ... en que deberán cerrar", each December
// in the Diario Oficial de la Federación).
var xmex = definition{
	mic: "XMEX", name: "Bolsa Mexicana de Valores", zone: "America/Mexico_City",
	regimes: []regime{weekdays(always, clock(8, 30), clock(15, 0))},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1),
		nth("Constitution Day", 1, time.Monday, time.February),
		nth("Birthday of Benito Juárez", 3, time.Monday, time.March),
		easter("Maundy Thursday", -3),
		easter("Good Friday", -2),
		fixed("Labour Day", time.May, 1),
		fixed("Independence Day", time.September, 16),
		fixed("All Souls' Day", time.November, 2),
		nth("Revolution Day", 3, time.Monday, time.November),
		fixed("Bank Employees' Day", time.December, 12),
		fixed("Christmas Day", time.December, 25),
		presidentialHandover,
	},
}

// Every sixth year since 2024: Ley Federal del Trabajo, article 74, VII.
var presidentialHandover = func() rule {
	r := fixed("Handover of the federal executive", time.October, 1).since(2024)
	for year := 2024; year <= lastYear; year++ {
		if (year-2024)%6 != 0 {
			r.exceptYears = append(r.exceptYears, year)
		}
	}
	return r
}()

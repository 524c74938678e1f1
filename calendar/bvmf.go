// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// B3: "Calendário de negociação". The exchange kept the holidays of the city and
// the state of São Paulo until 2021.
var bvmf = definition{
	mic: "BVMF", name: "B3 - Brasil, Bolsa, Balcão", zone: "America/Sao_Paulo",
	regimes: []regime{
		weekdays(always, clock(10, 0), clock(17, 0)),
		weekdays(on(2019, time.November, 4), clock(10, 0), clock(18, 0)),
	},
	holidays: []rule{
		fixed("New Year's Day", time.January, 1),
		fixed("Anniversary of São Paulo", time.January, 25).through(2021),
		easter("Carnival Monday", -48),
		easter("Carnival Tuesday", -47),
		easter("Good Friday", -2),
		fixed("Tiradentes Day", time.April, 21),
		fixed("Labour Day", time.May, 1),
		easter("Corpus Christi", 60),
		// The state moved both to May in 2020, against the epidemic; B3 stayed open then too.
		fixed("Constitutionalist Revolution", time.July, 9).through(2021).except(2020),
		fixed("Independence Day", time.September, 7),
		fixed("Our Lady of Aparecida", time.October, 12),
		fixed("All Souls' Day", time.November, 2),
		fixed("Proclamation of the Republic", time.November, 15),
		fixed("Black Consciousness Day", time.November, 20).except(2020, 2021, 2022, 2023),
		fixed("Christmas Eve", time.December, 24),
		fixed("Christmas Day", time.December, 25),
		// No trading on the last weekday of the year.
		fixed("Last day of the year", time.December, 31).moved(toFriday),
	},
	hours: []dayHours{{rule: easter("Ash Wednesday", -46).since(2016), open: clock(13, 0)}},
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// The exchanges whose holidays follow the moon or a decree. Their days are in the
// folder tables, as far as they have been announced or can be computed.

var xhkg = definition{
	mic: "XHKG", name: "Hong Kong Stock Exchange", zone: "Asia/Hong_Kong", table: "XHKG",
	regimes: []regime{weekdays(always, clock(9, 30), clock(16, 0), Break{clock(12, 0), clock(13, 0)})},
}

var xshg = definition{
	mic: "XSHG", name: "Shanghai Stock Exchange", zone: "Asia/Shanghai", table: "XSHG",
	regimes: []regime{weekdays(always, clock(9, 30), clock(15, 0), Break{clock(11, 30), clock(13, 0)})},
}

var xses = definition{
	mic: "XSES", name: "Singapore Exchange", zone: "Asia/Singapore", table: "XSES",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 0))},
}

var xtai = definition{
	mic: "XTAI", name: "Taiwan Stock Exchange", zone: "Asia/Taipei", table: "XTAI",
	regimes: []regime{weekdays(always, clock(9, 0), clock(13, 30))},
}

var xkls = definition{
	mic: "XKLS", name: "Bursa Malaysia", zone: "Asia/Kuala_Lumpur", table: "XKLS",
	regimes: []regime{weekdays(always, clock(9, 0), clock(17, 0))},
}

var xbkk = definition{
	mic: "XBKK", name: "Stock Exchange of Thailand", zone: "Asia/Bangkok", table: "XBKK",
	regimes: []regime{weekdays(always, clock(10, 0), clock(16, 30))},
}

var xidx = definition{
	mic: "XIDX", name: "Indonesia Stock Exchange", zone: "Asia/Jakarta", table: "XIDX",
	regimes: []regime{weekdays(always, clock(9, 0), clock(15, 50))},
}

var xbom = definition{
	mic: "XBOM", name: "BSE", zone: "Asia/Kolkata", table: "XBOM",
	regimes: []regime{weekdays(always, clock(9, 15), clock(15, 30))},
}

var xist = definition{
	mic: "XIST", name: "Borsa İstanbul", zone: "Europe/Istanbul", table: "XIST",
	regimes: []regime{weekdays(always, clock(10, 0), clock(18, 0))},
}

// The Saudi week is Sunday to Thursday.
var xsau = definition{
	mic: "XSAU", name: "Saudi Exchange", zone: "Asia/Riyadh", table: "XSAU",
	regimes: []regime{{week: []weekHours{{days: sundayToThurs, open: clock(10, 0), close: clock(15, 0)}}}},
}

// Tel Aviv moved from Sunday-to-Thursday to Monday-to-Friday in January 2026.
var xtae = definition{
	mic: "XTAE", name: "Tel Aviv Stock Exchange", zone: "Asia/Jerusalem", table: "XTAE",
	regimes: []regime{
		{week: []weekHours{
			{days: sundayToThurs[:1], open: clock(9, 59), close: clock(15, 40)},
			{days: sundayToThurs[1:], open: clock(9, 59), close: clock(17, 15)},
		}},
		{from: on(2026, time.January, 5), week: []weekHours{
			{days: mondayToFriday[:4], open: clock(9, 59), close: clock(17, 15)},
			{days: mondayToFriday[4:], open: clock(9, 59), close: clock(13, 50)},
		}},
	},
}

// SPDX-License-Identifier: Apache-2.0

package calendar_test

import (
	"testing"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"

	"github.com/fivespot/fivespot/calendar"
)

// TestPublicHolidaysAgreeWithALibrary asks a second source about later years than
// the oracle covers: each public holiday of the country, as far as the exchange
// keeps it, is a closed day here.
func TestPublicHolidaysAgreeWithALibrary(t *testing.T) {
	cal.DefaultLoc = time.UTC // or its dates depend on the machine's zone
	for _, c := range []struct {
		mic      string
		holidays []*cal.Holiday
		// except are days on which the library is wrong, or the exchange trades.
		except map[string]string
	}{
		{mic: "XNYS", holidays: []*cal.Holiday{
			us.MlkDay, us.PresidentsDay, us.MemorialDay, us.Juneteenth, us.IndependenceDay,
			us.LaborDay, us.ThanksgivingDay, us.ChristmasDay,
		}, except: map[string]string{"2021-06-18": "the exchange keeps Juneteenth since 2022"}},
		{mic: "XTSE", holidays: []*cal.Holiday{
			ca.NewYear, ca.GoodFriday, ca.VictoriaDay, ca.CanadaDay, ca.LabourDay, ca.ThanksgivingDay,
		}},
		{mic: "XLON", holidays: []*cal.Holiday{
			gb.NewYear, gb.GoodFriday, gb.EasterMonday, gb.EarlyMay, gb.SpringHoliday, gb.SummerHoliday,
			gb.ChristmasDay, gb.BoxingDay,
		}},
		{mic: "XASX", holidays: []*cal.Holiday{
			au.NewYear, au.GoodFriday, au.EasterMonday, au.ChristmasDay,
		}},
		{mic: "XNZE", holidays: []*cal.Holiday{
			nz.NewYear, nz.DayAfterNewYear, nz.WaitangiDay, nz.GoodFriday, nz.EasterMonday, nz.AnzacDay,
			nz.QueensBirthday, nz.LabourDay, nz.BoxingDay,
		}},
		{mic: "XTKS", holidays: jp.Holidays, except: map[string]string{
			"2019-12-23": "no Emperor's Birthday in the year of the accession",
			"2020-08-11": "Mountain Day was moved for the Olympic Games",
			"2021-08-11": "Mountain Day was moved for the Olympic Games",
		}},
		{mic: "XWAR", holidays: pl.Holidays},
		{mic: "XJSE", holidays: za.Holidays, except: map[string]string{
			"2033-12-27": "a day in lieu of a Sunday Christmas takes a proclamation",
			"2039-12-27": "a day in lieu of a Sunday Christmas takes a proclamation",
		}},
	} {
		t.Run(c.mic, func(t *testing.T) {
			exchange, _ := calendar.Lookup(c.mic)
			for year := 2015; year <= 2040; year++ {
				for _, h := range c.holidays {
					checkHoliday(t, exchange, h, year, c.except)
				}
			}
		})
	}
}

func checkHoliday(t *testing.T, exchange *calendar.Exchange, h *cal.Holiday, year int, except map[string]string) {
	t.Helper()
	_, observed := h.Calc(year)
	if observed.IsZero() || observed.Weekday() == time.Saturday || observed.Weekday() == time.Sunday {
		return
	}
	date := calendar.DateOf(observed)
	_, open := exchange.Session(date)
	why, excepted := except[date.String()]
	switch {
	case open && !excepted:
		t.Errorf("%s %s trades on %s (%s)", exchange.MIC, date, h.Name, date.Weekday())
	case !open && excepted:
		t.Errorf("%s %s is closed, yet it is named as an exception: %s", exchange.MIC, date, why)
	}
}

// SPDX-License-Identifier: Apache-2.0

package calendar

import "time"

// definition is all that is known of an exchange, as data.
type definition struct {
	mic, name, zone string
	// regimes are the usual hours, the earliest first.
	regimes []regime
	// holidays close the exchange, by rule.
	holidays []rule
	// japanese adds the national holidays of Japan, which depend on each other.
	japanese bool
	// closures are one-off closures. They beat every rule.
	closures []closure
	// hours change the hours of a day that is a session. The first that gives a
	// date wins.
	hours []dayHours
	// extra are sessions on days that would not be one. They beat every closure.
	extra []extraSession
	// table names the file in the folder tables that holds the holidays, for an
	// exchange without rules. It also sets the dates between which it is known.
	table string
	// from is the first date for which the data has been checked; the zero Date
	// stands for the first of [firstYear].
	from Date
	// until is the last date for which the rules are settled by law or notice;
	// the zero Date is without end.
	until Date
}

// regime is the usual week from a date on.
type regime struct {
	from Date // the zero Date: since ever
	week []weekHours
}

// weekHours are the usual hours of some weekdays.
type weekHours struct {
	days        []time.Weekday
	open, close Minute
	breaks      []Break
}

// closure is a closed day that no rule gives.
type closure struct {
	date         Date
	name, source string
}

// dayHours gives a recurring day a close, or an open, of its own. Zero leaves the
// usual one.
type dayHours struct {
	rule
	open, close Minute
}

// extraSession is a session on a day that would not be one.
type extraSession struct {
	date         Date
	name, source string
	open, close  Minute
	breaks       []Break
}

var (
	mondayToFriday = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	sundayToThurs  = []time.Weekday{time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday}
)

// weekdays is a regime of one set of hours from Monday to Friday.
func weekdays(from Date, open, closing Minute, breaks ...Break) regime {
	return regime{from: from, week: []weekHours{{days: mondayToFriday, open: open, close: closing, breaks: breaks}}}
}

// always is the from date of a regime that has no known beginning.
var always = Date{}

// on is short for a date in the tables of one-off facts.
func on(y int, m time.Month, d int) Date { return Date{y, m, d} }

// closingAt gives a recurring day an early close.
func closingAt(at Minute, rules ...rule) []dayHours {
	out := make([]dayHours, len(rules))
	for i, r := range rules {
		out[i] = dayHours{rule: r, close: at}
	}
	return out
}

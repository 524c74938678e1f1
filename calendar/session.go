// SPDX-License-Identifier: Apache-2.0

package calendar

// Session is one day's trading, by its trading date.
type Session struct {
	// Date is the trading date. A session may open on the evening before.
	Date Date
	// Open and Close are the stated local times; the session is half-open, in
	// session at Open and no longer at Close.
	Open, Close Minute
	// Breaks lie between Open and Close, in order. Nil where there is none. The
	// slice is shared: do not change it.
	Breaks []Break
	// Name says why the day is not an ordinary one, "Day after Thanksgiving" say.
	// It is empty on an ordinary day.
	Name string
	// Early is set where the session closes before the usual time of that day.
	Early bool
	// Late is set where the session opens after the usual time of that day.
	Late bool
	// Special is set where the day would not be a session at all by the usual
	// rules: a Saturday session, or an evening hour on a holiday.
	Special bool
}

// Break is a pause in a session: trading stops at Start and resumes at End.
type Break struct {
	Start, End Minute
}

// Holiday is a date on which an exchange is closed although its weekday is one
// on which it trades.
type Holiday struct {
	Date Date
	// Name is what a trader calls the day.
	Name string
	// Source names the public document that a one-off closure or a table entry
	// comes from. It is empty where a rule gives the date.
	Source string
	// Expected is set where the exchange has not published the year yet: the date
	// follows from the calendar that decides it (a lunar one, say), and may be
	// moved by the exchange.
	Expected bool
}

// SPDX-License-Identifier: Apache-2.0

// Package calendar says when the world's exchanges trade.
//
// An exchange is named by its MIC (ISO 10383) and speaks in civil dates and
// local minutes: which dates are sessions, when each opens, breaks and closes,
// and by what name a date is closed. Nothing here reads a clock, a network or
// the machine's time zone; the zone data of an exchange is embedded.
//
// Where a rule decides (the first Monday of September, two days before Easter,
// the equinox), the rule is here and holds for every later year. Where the moon
// or a decree decides, the published dates are here as tables (the folder
// tables), and past the last date that a table knows the calendar says so:
// see [Exchange.Known] and [Exchange.KnownUntil]. Unscheduled closures are facts
// with a date and a source. Hours that changed over the years are data too: a
// regime has a first date.
//
// The rules and tables are checked day by day against the sessions of a public
// library; DIFFERENCES.md lists where, and why, this package says otherwise.
//
// The package imports the standard library only.
package calendar

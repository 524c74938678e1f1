// SPDX-License-Identifier: Apache-2.0

// Package schedule is the arithmetic of schedules: is a set of windows in a
// time zone active at an instant, and when does that next change?
//
// Everything here is a pure function of its arguments. Nothing reads a clock,
// the machine's time zone or its zone database. Answers are exact to the second
// in every zone, at every distance: a [Schedule] that never changes again is
// told apart from one whose next change is far away.
//
// The two readings of a local time are two constructors. [Sessions] opens and
// closes each session at the first instant at which the wall clock has come to
// the stated time: a time skipped in spring is the end of the gap, a time
// repeated in autumn is its first occurrence. [WallClock] tests the reading of
// the wall clock at each instant: an hour that is repeated lasts two.
//
// Windows are half-open: active at the opening instant, inactive at the closing
// one. Boundaries are whole seconds.
//
// The package imports the standard library only.
package schedule

// SPDX-License-Identifier: Apache-2.0

// Package alarm wakes callers at exact instants of the wall clock, one instant
// per key. Controllers use it to reconcile an object at the boundary where its
// schedule changes, instead of polling.
//
// A Go timer counts on the monotonic clock, which stands still while a machine
// is suspended and ignores a step of the wall clock. A [Queue] therefore looks
// at the wall clock again every [RecheckInterval], so it notices both.
//
// It imports the injected clock and, for [Source], controller-runtime; nothing
// of this module.
package alarm

// SPDX-License-Identifier: Apache-2.0

// Package contract is the whole agreement between a schedule and whoever
// follows it: a kind of the API group spotschedules.5spot.finos.org publishes a
// boolean status.active, and may publish a Ready condition beside it.
//
// A reader calls [Read] or [ReadObject]. A provider in Go embeds [Status] in
// its type. The prose twin of this package is docs/contract.md.
package contract

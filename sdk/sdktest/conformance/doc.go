// SPDX-License-Identifier: Apache-2.0

// Package conformance checks a schedule provider, written in any language, from
// outside: against a cluster in which it runs, by what a client of the API
// server can see. Each check points to a rule of the contract, docs/contract.md,
// and says what to do about a failure.
//
// A provider's own test is one call:
//
//	func TestConformance(t *testing.T) {
//		conformance.Test(t, conformance.Options{
//			Config: config, // of an administrator
//			Kind:   "TideSchedule",
//			On:     sampleOn, // a manifest that is active now
//			Off:    sampleOff,
//		})
//	}
//
// Every check is a subtest. [Run] does the same without the testing package, and
// `fivespot conformance` is Run at the command line.
//
// The kit makes namespaces with generated names, works in those alone, and
// deletes them when it ends. In Options.Namespace it works in one that exists.
//
// It imports api, client libraries and the testing package. It is no part of
// what a provider links.
package conformance

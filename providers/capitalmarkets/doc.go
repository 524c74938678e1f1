// SPDX-License-Identifier: Apache-2.0

// Package capitalmarkets is the provider of CapitalMarketsSchedule: active while
// a market is in session.
//
// [NewPlan] reads a spec and [Plan.At] answers for an instant; both are pure,
// and `fivespot preview` and `fivespot lint` use them too. The package imports
// the sdk, calendar, internal/schedule and the api.
package capitalmarkets

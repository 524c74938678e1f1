// SPDX-License-Identifier: Apache-2.0

// Package timebased is the provider of TimeBasedSpotSchedule: active at certain
// times of the week, of certain dates, or between certain instants.
//
// [NewPlan] reads a spec and [Plan.At] answers for an instant; both are pure,
// and `fivespot preview` and `fivespot lint` use them too. The package imports
// the sdk, internal/schedule and the api.
package timebased

// SPDX-License-Identifier: Apache-2.0

// Package providers is the list of the schedule kinds that 5-Spot ships, one
// folder each. It imports those folders and the sdk.
package providers

import (
	"github.com/fivespot/fivespot/providers/capitalmarkets"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/providers/timebased"
	"github.com/fivespot/fivespot/sdk"
)

// All returns a provider of each shipped kind, in the order of their names.
func All() []*sdk.Provider {
	return []*sdk.Provider{
		capitalmarkets.Provider(),
		manual.Provider(),
		timebased.Provider(),
	}
}

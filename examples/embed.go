// SPDX-License-Identifier: Apache-2.0

// Package examples holds the sample manifests, so that a program can apply
// exactly what a reader would.
//
// It imports nothing.
package examples

import _ "embed"

// The samples of the guide: a toggle, and the machine that follows it.
var (
	//go:embed manualschedule-desk-override.yaml
	DeskOverride []byte
	//go:embed scheduledmachine-trading-desk-rack.yaml
	TradingDeskRack []byte
)

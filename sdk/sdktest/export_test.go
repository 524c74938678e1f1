// SPDX-License-Identifier: Apache-2.0

package sdktest

// WithMaxStops bounds the stops of AdvanceTo, and returns what undoes that.
func WithMaxStops(n int) (undo func()) {
	before := maxStops
	maxStops = n
	return func() { maxStops = before }
}

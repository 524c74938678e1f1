// SPDX-License-Identifier: Apache-2.0

package conformance

// accountChecks ask the API server what the provider's account may do.
func accountChecks() []Check { return nil }

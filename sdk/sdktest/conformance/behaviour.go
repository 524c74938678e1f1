// SPDX-License-Identifier: Apache-2.0

package conformance

// behaviourChecks look at what the provider does.
func behaviourChecks() []Check { return nil }

// SPDX-License-Identifier: Apache-2.0

package conformance

// fiveSpotChecks look at a ScheduledMachine that follows the provider.
func fiveSpotChecks() []Check { return nil }

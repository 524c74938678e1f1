// SPDX-License-Identifier: Apache-2.0

// Package shutdown tests that a machine goes down within its bound, whatever
// stands in its way, and that its ScheduledMachine names what does: real pods,
// budgets and evictions on the rig of test/hardware, with the real Cluster API.
package shutdown

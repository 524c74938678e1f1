// SPDX-License-Identifier: Apache-2.0

// Package taints tests that spec.nodeTaints come to the nodes of real workload
// clusters and stay there, beside the taints of others, and that a workload
// cluster that goes away harms no other.
package taints

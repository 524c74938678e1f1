// SPDX-License-Identifier: Apache-2.0

// Package drain empties a Node for the one case in which Cluster API would not:
// a Cluster that has neither a control plane object nor a control-plane Machine.
//
// [Step] takes one step, waits for no pod and says how far the drain has come.
// Its caller calls it again after a while, and decides how long it goes on.
// Which pods are left alone, and how the others are asked to go, follows Cluster
// API's own drain, on kubectl's drain library. [DeleteNode] then takes the Node
// away.
//
// The package imports nothing of ours.
package drain

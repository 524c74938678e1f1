// SPDX-License-Identifier: Apache-2.0

// Package system tests 5-Spot as a whole: its own programs, each with the
// credentials of its own service account, on a real API server with real
// Cluster API machines.
//
// Tests in it share one such whole and run one after the other: several of them
// count what every process asks of the API server.
package system

// SPDX-License-Identifier: Apache-2.0

// Package ha tests several replicas of the controller at once: real processes
// with the rights of deploy/, on a real API server, killed and stopped while
// they work. What each of them did is read from the API server's audit log,
// where a replica is known by its user agent.
//
// Cluster API's CRDs are installed and its managers are not: a Machine comes up
// when a test says so, and is gone once it is deleted.
package ha

// SPDX-License-Identifier: Apache-2.0

// Package localcluster runs the whole of 5-Spot on one machine, for people who
// try it and for tests: a Kubernetes control plane, the real Cluster API
// managers with machines that exist in memory only, a workload cluster, the
// controller and the schedule providers, each a process of its own. What is
// ours runs with the credentials of its own service account, so that the RBAC
// that is shipped is the RBAC that is used.
//
// Everything listens on loopback, at ports that are free, and everything that
// is kept is in one directory.
//
// It imports internal/devplane, internal/process, deploy and client libraries;
// it knows our programs by their flags only.
package localcluster

// SPDX-License-Identifier: Apache-2.0

// Package workload knows the workload clusters that ScheduledMachines' nodes
// are in: which credentials lead to each, whether it can be reached, and what
// its Nodes look like.
//
// [Clusters] keeps one connection per Secret that holds a kubeconfig, shared by
// all ScheduledMachines that name it. It watches that Secret and the cluster's
// Nodes, so that a reader polls for nothing and never waits for a cluster: what
// is known is read from memory, and whoever is concerned is woken when it
// changes.
//
// A kubeconfig comes from a tenant. It is taken for data, not for instructions
// (see kubeconfig.go), and neither it nor anything that its server says, but for
// what a [Node] holds, reaches an error, a status, a log or a metric.
//
// The package imports api/v1beta1 and internal/alarm.
package workload

// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the types of the API group 5spot.finos.org.
//
// A [ScheduledMachine] says what machine to run, as a Cluster API bootstrap and
// infrastructure spec, and points at the one schedule object that says when.
//
// +kubebuilder:object:generate=true
// +groupName=5spot.finos.org
package v1beta1

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the schedule kinds that 5-Spot ships, in the API group
// spotschedules.5spot.finos.org. Anyone may add a kind to the group; what a kind
// owes its readers is in the package contract.
//
// +kubebuilder:object:generate=true
// +groupName=spotschedules.5spot.finos.org
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package api is the root of the types that 5-Spot stores in Kubernetes and of
// the contract between a schedule and the controller that follows it.
//
// Packages below it import apimachinery and nothing else, so that a program
// can use the types without inheriting a controller's dependencies.
package api

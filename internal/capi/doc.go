// SPDX-License-Identifier: Apache-2.0

// Package capi turns a ScheduledMachine into Cluster API objects and reads a
// Cluster API Machine back, for both versions of the Machine API. Everything in
// it is a pure function of its arguments; it imports api and Cluster API's types.
package capi

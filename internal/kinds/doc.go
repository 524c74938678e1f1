// SPDX-License-Identifier: Apache-2.0

// Package kinds follows custom resources whose kinds come and go while the
// process runs.
//
// A [Registry] knows which kinds are installed, from one watch of the CRDs. A
// [Store] holds the objects of some of those kinds: it starts an informer when a
// kind appears and stops it when the kind goes. Reading from either is free of
// API requests, and an API server that cannot be reached leaves the last view
// in place. So does a change of version, until the objects have been read at the
// new one.
//
// The package knows nothing of schedules or machines; it imports client-go and
// apimachinery.
package kinds

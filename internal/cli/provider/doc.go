// SPDX-License-Identifier: Apache-2.0

// Package provider is the verb `fivespot provider`, for those who write a
// schedule kind of their own: `init` writes a whole provider in Go, and
// `manifests` prints what a provider in any language has to have installed.
//
// It imports the contract, the manifests of deploy/, from which it takes what
// every schedule kind has in common, and what a command line needs.
package provider

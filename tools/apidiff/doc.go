// SPDX-License-Identifier: Apache-2.0

// Package apidiff guards the Go API that others build on: what the packages
// below api/ and sdk/ export. The directory api/ beside this file lists it, a
// file for each package, as declarations in Go. The package's own test, which
// `make test` runs, compares the listing with the tree by the rules of
// golang.org/x/exp/apidiff and fails
//
//   - when something changed so that a program which compiled before may not
//     compile any more: a name that went, another signature, a new method in an
//     interface that others implement. It is to be undone, or made in another way:
//     add a new name and deprecate the old one.
//
//   - when something was added that is not listed yet. Look at whether it earns
//     its place, since from then on it stays, and list it:
//
//     cd tools/apidiff && go test . -update
//
// An incompatible change that is meant, in a package whose version says that it
// may still change or together with a new major version, is listed by -update
// -incompatible.
//
// What behaviour a name promises is beyond this check, and so are the JSON names
// of fields, which the CRDs in deploy/ show.
//
// It is a module of its own so that nobody who writes a provider inherits what it
// needs.
package apidiff

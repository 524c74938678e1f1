// SPDX-License-Identifier: Apache-2.0

// Package processtest looks at processes from outside, for tests: which
// children they have, where they listen, when they end. It reads proc(5), so
// all but this file is for Linux.
//
// It is for tests only.
package processtest

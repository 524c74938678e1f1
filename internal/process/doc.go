// SPDX-License-Identifier: Apache-2.0

// Package process runs one child process: it starts it, waits until it is
// ready, says when it ends and with what words, and stops it.
//
// A child never outlives its parent on Linux, however the parent ends, and it
// does not see the signals of the parent's terminal, so that a parent of
// several can stop them in an order of its own.
//
// It imports the standard library only.
package process

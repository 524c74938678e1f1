// SPDX-License-Identifier: Apache-2.0

// Package cli holds what the verbs of the command fivespot share. Each verb is
// a package of its own below, with a constructor that is given the streams (and
// the clock, where it needs one), so that a test can stand in for the terminal.
//
// It imports the standard library only.
package cli

import "io"

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

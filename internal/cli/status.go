// SPDX-License-Identifier: Apache-2.0

package cli

import "fmt"

// StatusError ends the program with a status of its own; any other error ends it
// with 1.
type StatusError struct {
	// Status is the exit status.
	Status int
	// Err is what to tell; nil where the command has told it already.
	Err error
}

// Error returns the text of Err, or the status.
func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *StatusError) Unwrap() error { return e.Err }

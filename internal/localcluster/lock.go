// SPDX-License-Identifier: Apache-2.0

package localcluster

import "fmt"

// InUseError says that a directory is taken by another run.
type InUseError struct {
	// Dir is the directory.
	Dir string
	// PID is the id of the process that has it, empty if it cannot be told.
	PID string
}

func (e *InUseError) Error() string {
	owner := "another process"
	if e.PID != "" {
		owner = "process " + e.PID
	}
	return fmt.Sprintf("%s is in use by %s: stop that one first or choose another directory", e.Dir, owner)
}

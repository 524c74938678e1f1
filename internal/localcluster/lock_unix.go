// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// takeLock takes the directory for this process, or returns an *InUseError.
// The kernel gives it back when the process ends, however it ends. The file
// holds the id of the process, for the sentence that the next one prints.
func (l layout) takeLock() (release func(), err error) {
	file, err := os.OpenFile(l.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		owner, _ := io.ReadAll(file) // only for the message
		return nil, &InUseError{Dir: string(l), PID: strings.TrimSpace(string(owner))}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", l.lock(), err)
	}
	return func() { file.Close() }, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// takeLock takes the directory for this process. The kernel gives it back when the
// process ends, however it ends. The file holds the process id, for the
// sentence that the next one prints.
func (l layout) takeLock() (release func(), err error) {
	file, err := os.OpenFile(l.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		owner, _ := io.ReadAll(file) // only for the message
		return nil, fmt.Errorf("a control plane (process %s) already runs on %s: stop it first or choose another --dir",
			strings.TrimSpace(string(owner)), string(l))
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", l.lock(), err)
	}
	if err := writeOwner(file); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

func writeOwner(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	if _, err := fmt.Fprintln(file, os.Getpid()); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	return nil
}

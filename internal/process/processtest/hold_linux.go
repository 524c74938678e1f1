// SPDX-License-Identifier: Apache-2.0

package processtest

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A Hold is a hold on a process, by which its end can be told even when its id
// is another's by then.
type Hold struct {
	t          testing.TB
	pid        int
	descriptor int
}

// Take takes hold of a process that runs.
func Take(t testing.TB, pid int) *Hold {
	t.Helper()
	descriptor, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("taking hold of process %d: %v", pid, err)
	}
	t.Cleanup(func() { unix.Close(descriptor) })
	return &Hold{t: t, pid: pid, descriptor: descriptor}
}

// Ended tells whether the process has ended.
func (h *Hold) Ended() bool {
	h.t.Helper()
	return h.poll(0)
}

// AwaitEnd returns when the process has ended. It fails the test after a minute.
func (h *Hold) AwaitEnd() {
	h.t.Helper()
	const minute = 60_000 // in milliseconds
	if !h.poll(minute) {
		h.t.Fatalf("process %d still runs", h.pid)
	}
}

// poll waits up to timeout milliseconds for the end of the process.
func (h *Hold) poll(timeout int) bool {
	h.t.Helper()
	ready := []unix.PollFd{{Fd: int32(h.descriptor), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(ready, timeout)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			h.t.Fatalf("asking whether process %d has ended: %v", h.pid, err)
		}
		return n > 0
	}
}

// SPDX-License-Identifier: Apache-2.0

package processtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Children returns the ids of the processes whose parent is pid, by the name of
// the program.
func Children(t testing.TB, pid int) map[string]int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		if name, parent := parseStat(content); parent == pid {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			children[name] = child
		}
	}
	return children
}

// parseStat reads the name, which is in parentheses and may hold any character,
// and the parent, which is the second field after it.
func parseStat(stat []byte) (name string, parent int) {
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return "", 0
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 {
		return "", 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return "", 0
	}
	return string(stat[begin+1 : end]), parent
}

// AwaitEnd takes hold of a process that runs and returns a function that waits
// until it has ended. That one fails the test after a minute.
func AwaitEnd(t testing.TB, pid int) func() {
	t.Helper()
	descriptor, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("taking hold of process %d: %v", pid, err)
	}
	t.Cleanup(func() { unix.Close(descriptor) })
	return func() {
		t.Helper()
		const minute = 60_000 // in milliseconds
		ready := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(ready, minute)
			switch {
			case err == unix.EINTR:
				continue
			case err != nil:
				t.Fatalf("waiting for the end of process %d: %v", pid, err)
			case n == 0:
				t.Fatalf("process %d still runs", pid)
			}
			return
		}
	}
}

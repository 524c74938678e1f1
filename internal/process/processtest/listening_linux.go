// SPDX-License-Identifier: Apache-2.0

package processtest

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Listening returns the addresses that a process listens on for TCP, from the
// kernel's tables of sockets by inode and the inodes behind the descriptors of
// the process. It is empty if the process has ended.
func Listening(t testing.TB, pid int) []net.IP {
	t.Helper()
	mine := sockets(t, pid)
	var addresses []net.IP
	for _, table := range []string{"tcp", "tcp6"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			const local, state, inode = 1, 3, 9
			const listen = "0A"
			fields := strings.Fields(line)
			if len(fields) > inode && fields[state] == listen && mine[fields[inode]] {
				addresses = append(addresses, parseAddress(t, fields[local]))
			}
		}
	}
	return addresses
}

func sockets(t testing.TB, pid int) map[string]bool {
	t.Helper()
	descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	inodes := map[string]bool{}
	for _, descriptor := range descriptors {
		target, err := os.Readlink(descriptor)
		if err != nil {
			continue // closed meanwhile
		}
		if inode, found := strings.CutPrefix(target, "socket:["); found {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes
}

// parseAddress reads ADDRESS:PORT in hexadecimal, the address in words of four
// bytes, each in the order of a little-endian machine.
func parseAddress(t testing.TB, text string) net.IP {
	t.Helper()
	digits, _, _ := strings.Cut(text, ":")
	address, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	for word := range slices.Chunk(address, 4) {
		slices.Reverse(word)
	}
	return address
}

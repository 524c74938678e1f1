// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestListensOnLoopbackOnly(t *testing.T) {
	p := devplanetest.Plane(t)
	addresses := listening(t, p.PID())
	if len(addresses) == 0 {
		t.Error("it seems to listen nowhere")
	}
	for _, address := range addresses {
		if !address.IsLoopback() {
			t.Errorf("it listens on %s", address)
		}
	}
}

func TestListeningSeesEveryAddress(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "[::1]", "0.0.0.0", "[::]"} {
		listener, err := net.Listen("tcp", address+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		want := listener.Addr().(*net.TCPAddr).IP
		if got := listening(t, os.Getpid()); !slices.ContainsFunc(got, want.Equal) {
			t.Errorf("of a process that listens on %s it says %v", want, got)
		}
	}
}

// listening returns the addresses that a process listens on, from proc(5):
// tables of sockets by inode, and the inodes behind the process's descriptors.
func listening(t *testing.T, pid int) []net.IP {
	t.Helper()
	mine := sockets(t, pid)
	var addresses []net.IP
	for _, table := range []string{"tcp", "tcp6"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
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

func sockets(t *testing.T, pid int) map[string]bool {
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
func parseAddress(t *testing.T, text string) net.IP {
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

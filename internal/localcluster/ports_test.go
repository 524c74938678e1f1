// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"net"
	"testing"
)

func TestPortsAreFreeAndGivenOnce(t *testing.T) {
	var picker portPicker
	seen := map[int]bool{}
	for range 200 {
		port, err := picker.pick()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		if port < minPort || port > maxPort {
			t.Fatalf("port %d is not between %d and %d", port, minPort, maxPort)
		}
		seen[port] = true
	}
}

func TestPortInUseIsNotGiven(t *testing.T) {
	var picker portPicker
	for range 200 {
		port, err := picker.pick()
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
	// Another picker knows of none of them but from the kernel.
	var other portPicker
	for range 200 {
		port, err := other.pick()
		if err != nil {
			t.Fatal(err)
		}
		if picker.given[port] {
			t.Fatalf("port %d is in use and was given", port)
		}
	}
}

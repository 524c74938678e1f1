// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"maps"
	"net"
	"testing"
)

func TestPortsAreFreeAndGivenOnce(t *testing.T) {
	var picker portPicker
	defer picker.release()
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
	given := maps.Clone(picker.given)
	picker.release() // so that another picker knows of none of them but from those who listen
	var other portPicker
	defer other.release()
	for range 200 {
		port, err := other.pick()
		if err != nil {
			t.Fatal(err)
		}
		if given[port] != nil {
			t.Fatalf("port %d is in use and was given", port)
		}
	}
}

func TestAPortIsGivenByOnePickerAlone(t *testing.T) {
	var one, other portPicker
	defer one.release()
	defer other.release()
	for range 1000 {
		port, err := one.pick()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := other.pick(); err != nil || one.given[again] != nil {
			t.Fatalf("after port %d, port %d was given by two pickers: %v", port, again, err)
		}
	}
}

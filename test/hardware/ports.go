// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports are taken from below those that operating systems and localcluster hand
// out, so that one that is free for a while, such as that of a Wire that refuses
// connections, does not become somebody else's.
const (
	minPort = 10000
	maxPort = 19999
)

// listen listens on a port of the loopback address.
func listen() (net.Listener, error) {
	var errs []error
	for range 100 {
		port := minPort + rand.IntN(maxPort-minPort+1) //nolint:gosec // no secret, only unlike the next one's choice
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return listener, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("looking for a free port: %w", errors.Join(errs...))
}

// FreePort returns a port of the loopback address that nobody listens on.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%s is no TCP address", listener.Addr())
	}
	return address.Port
}

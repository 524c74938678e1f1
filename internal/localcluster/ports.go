// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range that operating systems take the ports
// of outgoing connections from, so that none of those can come between a look
// at a port and its use.
const (
	minPort = 20000
	maxPort = 32767
)

// A portPicker hands out TCP ports of the loopback address that nobody listens
// on, each once.
type portPicker struct {
	mu    sync.Mutex
	given map[int]net.PacketConn
}

func (p *portPicker) pick() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range 1000 {
		port := minPort + rand.IntN(maxPort-minPort+1) //nolint:gosec // no secret, only unlike the next one's choice
		if p.given[port] != nil {
			continue
		}
		// The UDP port of the same number, which nobody wants, tells the pickers of other
		// processes that this one is taken before anybody listens on it.
		claim, err := net.ListenPacket("udp", loopback(port))
		if err != nil {
			continue // given by another one
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			claim.Close()
			continue // in use
		}
		if err := listener.Close(); err != nil {
			claim.Close()
			return 0, fmt.Errorf("looking for a free port: %w", err)
		}
		if p.given == nil {
			p.given = map[int]net.PacketConn{}
		}
		p.given[port] = claim
		return port, nil
	}
	return 0, fmt.Errorf("no free port of 127.0.0.1 found between %d and %d", minPort, maxPort)
}

// release lets other pickers hand the ports out.
func (p *portPicker) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, claim := range p.given {
		claim.Close()
	}
	clear(p.given)
}

// pickAddresses returns n addresses of the form 127.0.0.1:port.
func (p *portPicker) pickAddresses(n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		port, err := p.pick()
		if err != nil {
			return nil, err
		}
		addresses[i] = loopback(port)
	}
	return addresses, nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

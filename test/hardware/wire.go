// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// A Wire leads from an address of its own to that of an API server, and can be
// cut in the two ways in which a network fails.
type Wire struct {
	to      string
	address string

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	hole     bool
	ends     map[net.Conn]bool
}

// newWire returns a wire that is whole.
func newWire(to string) (*Wire, error) {
	listener, err := listen()
	if err != nil {
		return nil, fmt.Errorf("laying a wire to %s: %w", to, err)
	}
	w := &Wire{to: to, address: listener.Addr().String(), listener: listener, ends: map[net.Conn]bool{}}
	go w.accept(listener)
	return w, nil
}

// Address is where the wire begins.
func (w *Wire) Address() string { return w.address }

// BlackHole swallows everything: connections are accepted and never answered,
// and those that are open fall silent, as when a router drops packets.
func (w *Wire) BlackHole() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hole = true
}

// Refuse closes every connection and refuses new ones, as when the API server
// has ended and its host has not.
func (w *Wire) Refuse() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener == nil {
		return nil
	}
	err := w.listener.Close()
	w.listener = nil
	w.closeEnds()
	return err
}

// Mend makes the wire whole again. What fell silent in between stays so.
func (w *Wire) Mend() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hole {
		w.hole = false
		w.closeEnds() // what they have lost cannot be brought back
	}
	if w.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		return fmt.Errorf("mending the wire to %s: %w", w.to, err)
	}
	w.listener = listener
	go w.accept(listener)
	return nil
}

func (w *Wire) closeEnds() {
	for end := range w.ends {
		end.Close()
	}
	clear(w.ends)
}

func (w *Wire) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return // closed
		}
		go w.connect(listener, near)
	}
}

func (w *Wire) connect(by net.Listener, near net.Conn) {
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		near.Close()
		return
	}
	if !w.hold(by, near, far) {
		near.Close()
		far.Close()
		return
	}
	go w.carry(near, far)
	w.carry(far, near)
}

// hold takes the ends of a connection on, unless connections are refused since
// the listener took it.
func (w *Wire) hold(by net.Listener, near, far net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener != by {
		return false
	}
	w.ends[near], w.ends[far] = true, true
	return true
}

// carry copies until one side ends; in a hole it reads and says nothing.
func (w *Wire) carry(to io.WriteCloser, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !w.swallows() {
			if _, writeErr := to.Write(buffer[:n]); writeErr != nil {
				err = errors.Join(err, writeErr)
			}
		}
		if err != nil {
			break
		}
	}
	if !w.swallows() {
		to.Close()
	}
}

func (w *Wire) swallows() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hole
}

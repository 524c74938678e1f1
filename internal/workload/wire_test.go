// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// wire leads from an address of its own to the API server, and can be cut.
type wire struct {
	t       *testing.T
	address string

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	hole     bool
	ends     map[net.Conn]bool // of the connections that are open, on the near side
	opened   int
	changed  chan struct{} // closed and made anew when ends changes
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{t: t, address: "127.0.0.1:0", ends: map[net.Conn]bool{}, changed: make(chan struct{})}
	w.mend()
	t.Cleanup(w.refuse)
	return w
}

// server is the URL of the API server by way of the wire.
func (w *wire) server() string { return "https://" + w.address }

// mend has connections pass. What fell silent before stays so.
func (w *wire) mend() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hole = false
	if w.listener != nil {
		return
	}
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.listener, w.address = listener, listener.Addr().String()
	go w.accept(listener)
}

// blackHole swallows everything, also on connections that are open.
func (w *wire) blackHole() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hole = true
}

// cut closes the connections that are open; new ones pass.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.ends {
		end.Close()
	}
}

// refuse closes the connections that are open, and refuses new ones.
func (w *wire) refuse() {
	w.cut()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listener != nil {
		w.listener.Close()
		w.listener = nil
	}
}

// connections returns how many are open and how many ever were.
func (w *wire) connections() (open, ever int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ends), w.opened
}

// awaitOpen waits until so many connections are open.
func (w *wire) awaitOpen(n int) {
	w.t.Helper()
	ctx := devplanetest.Context(w.t)
	for {
		w.mu.Lock()
		open, changed := len(w.ends), w.changed
		w.mu.Unlock()
		if open == n {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("%d connections are open, want %d", open, n)
		}
	}
}

func (w *wire) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go w.join(near)
		}
	}
}

func (w *wire) note(near net.Conn, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if open {
		w.ends[near] = true
		w.opened++
	} else {
		delete(w.ends, near)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// join passes bytes on both ways until either side ends.
func (w *wire) join(near net.Conn) {
	w.note(near, true)
	defer w.note(near, false)
	defer near.Close()
	api, err := url.Parse(devplanetest.Plane(w.t).Config().Host)
	if err != nil {
		return
	}
	far, err := net.Dial("tcp", api.Host)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		w.pass(near, far)
		near.Close()
	}()
	w.pass(far, near)
}

// pass copies until the end, and into nothing while there is a hole.
func (w *wire) pass(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		hole := w.hole
		w.mu.Unlock()
		if n > 0 && !hole {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

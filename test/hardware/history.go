// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	"errors"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// A History is every state that an object of the management cluster was seen
// in, from a moment before something is done to it: some pass by quickly.
type History[T client.Object] struct {
	mu      sync.Mutex
	states  []T
	gone    bool
	changed chan struct{} // closed, and replaced, with each state
}

// Follow begins the history of an object that exists. It ends with the test.
func Follow[T client.Object](t testing.TB, c *Cluster, object T) *History[T] {
	t.Helper()
	h := &History[T]{changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	seen, ok := object.DeepCopyObject().(T)
	if !ok {
		t.Fatalf("a copy of %T is a %T", object, seen)
	}
	go func() {
		defer close(ended)
		_ = await.Follow(ctx, c.Client(), seen, func(exists bool) error { // ends with ctx only
			h.add(seen, exists)
			return errors.New("there may be more")
		})
	}()
	h.Await(t, "exists", func(T) bool { return true })
	return h
}

func (h *History[T]) add(state T, exists bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if kept, ok := state.DeepCopyObject().(T); ok && exists {
		h.states = append(h.states, kept)
	}
	h.gone = !exists
	close(h.changed)
	h.changed = make(chan struct{})
}

// Find returns the first state that is as asked for, and whether there was one.
func (h *History[T]) Find(is func(T) bool) (state T, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, state := range h.states {
		if is(state) {
			return state, true
		}
	}
	return state, false
}

// Await returns the first state that is as asked for, and waits for it if need be.
func (h *History[T]) Await(t testing.TB, what string, is func(T) bool) T {
	t.Helper()
	ctx := Context(t)
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if state, found := h.Find(is); found {
			return state
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("it never %s; it was last seen as:\n%s", what, h.last())
		}
	}
}

// AwaitGone returns when the object does not exist.
func (h *History[T]) AwaitGone(t testing.TB) {
	t.Helper()
	ctx := Context(t)
	for {
		h.mu.Lock()
		changed, gone := h.changed, h.gone
		h.mu.Unlock()
		if gone {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("it never went; it was last seen as:\n%s", h.last())
		}
	}
}

func (h *History[T]) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.states) == 0 {
		return "nothing"
	}
	return describe(h.states[len(h.states)-1])
}

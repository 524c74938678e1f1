// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// RecheckInterval is the longest time for which a [Queue] relies on a timer
// before it looks at the wall clock again: the bound on how late a key fires
// after the machine was suspended or its clock was set forward.
const RecheckInterval = 30 * time.Second

// armingSlack is how far the clock may move between being read and a timer
// being armed by that reading. When it moved further (the goroutine was not
// scheduled, the machine slept) the timer would be late and is armed again.
const armingSlack = time.Millisecond

// Queue holds at most one instant per key and fires each key once, at or after
// its instant and never before, as told by the wall clock. Its methods may be
// called from any goroutine.
type Queue[K comparable] struct {
	clock clock.Clock
	// changed tells Run that the earliest instant is another one.
	changed chan struct{}

	mu      sync.Mutex
	pending entries[K]
	byKey   map[K]*entry[K]
	// sets counts calls of Set, so that equal instants fire in the order in which they were set.
	sets uint64
}

// New returns an empty queue that reads the given clock. Nothing fires until
// [Queue.Run] is called.
func New[K comparable](clock clock.Clock) *Queue[K] {
	return &Queue[K]{
		clock:   clock,
		changed: make(chan struct{}, 1),
		byKey:   map[K]*entry[K]{},
	}
}

// Set makes key fire once at the given instant, in place of any instant set for
// it before. An instant that has passed fires at once; the zero time clears.
func (q *Queue[K]) Set(key K, at time.Time) {
	if at.IsZero() {
		q.Clear(key)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(key)
	q.sets++
	e := &entry[K]{key: key, at: wall(at), set: q.sets}
	q.byKey[key] = e
	heap.Push(&q.pending, e)
	if e.index == 0 {
		q.wake()
	}
}

// Clear makes key not fire. It does nothing when no instant is set for key. A
// key that is being handed to Run's function at this moment still fires.
func (q *Queue[K]) Clear(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(key)
}

// At returns the instant at which key will fire, or false when none is set.
func (q *Queue[K]) At(key K) (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.byKey[key]
	if !ok {
		return time.Time{}, false
	}
	return e.at, true
}

// Run calls fire for each key that is due, the earliest first and one at a
// time, until ctx is done. It is meant to be called once. It starts no
// goroutine, and runs no timer while no instant is set. A fire that blocks
// delays the keys behind it; it may call Set and Clear.
func (q *Queue[K]) Run(ctx context.Context, fire func(key K)) {
	for {
		now := q.now()
		q.fireDue(ctx, now, fire)
		timer, expired := q.arm(now)
		if q.now().Sub(now).Abs() > armingSlack {
			timer.Stop()
			if ctx.Err() != nil {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-q.changed:
			timer.Stop()
		case <-expired:
		}
	}
}

// arm returns a timer for the earliest instant, but for no longer than
// RecheckInterval, and its channel; both do nothing when no instant is set.
func (q *Queue[K]) arm(now time.Time) (stopper, <-chan time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 {
		return noTimer{}, nil
	}
	timer := q.clock.NewTimer(min(q.pending[0].at.Sub(now), RecheckInterval))
	return timer, timer.C()
}

func (q *Queue[K]) fireDue(ctx context.Context, now time.Time, fire func(key K)) {
	for ctx.Err() == nil {
		key, ok := q.takeDue(now)
		if !ok {
			return
		}
		fire(key)
	}
}

// takeDue removes and returns the earliest key whose instant has come, or
// false when there is none.
func (q *Queue[K]) takeDue(now time.Time) (K, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 || q.pending[0].at.After(now) {
		var none K
		return none, false
	}
	key := q.pending[0].key
	q.remove(key)
	return key, true
}

func (q *Queue[K]) remove(key K) {
	if e, ok := q.byKey[key]; ok {
		heap.Remove(&q.pending, e.index)
		delete(q.byKey, key)
	}
}

func (q *Queue[K]) wake() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *Queue[K]) now() time.Time { return wall(q.clock.Now()) }

// wall strips the monotonic reading, by which Go would otherwise compare.
func wall(t time.Time) time.Time { return t.Round(0) }

type stopper interface{ Stop() bool }

type noTimer struct{}

func (noTimer) Stop() bool { return false }

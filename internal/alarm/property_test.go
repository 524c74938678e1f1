// SPDX-License-Identifier: Apache-2.0

package alarm_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/internal/alarm"
)

// TestEveryInstantFiresOnceAndOnTime drives a queue by random calls and
// compares it with a plain list of what is due. The bubble's virtual clock
// moves only when everybody waits, so "on time" means to the nanosecond.
func TestEveryInstantFiresOnceAndOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// rapid asks for the test's deadline, which a bubble does not have.
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
			m := &model{now: clock.RealClock{}.Now}
			q := alarm.New[int](clock.RealClock{})
			ctx, cancel := context.WithCancel(t.Context())
			defer func() {
				cancel()
				synctest.Wait()
			}()
			go q.Run(ctx, m.fire)
			t.Repeat(map[string]func(*rapid.T){
				"set": func(t *rapid.T) {
					key := rapid.IntRange(0, 9).Draw(t, "key")
					seconds := rapid.IntRange(-5, 120).Draw(t, "seconds")
					at := m.now().Add(time.Duration(seconds) * time.Second)
					m.set(key, at)
					q.Set(key, at)
				},
				"clear": func(t *rapid.T) {
					key := rapid.IntRange(0, 9).Draw(t, "key")
					m.clear(key)
					q.Clear(key)
				},
				"pass time": func(t *rapid.T) {
					milliseconds := rapid.IntRange(1, 90_000).Draw(t, "milliseconds")
					<-clock.RealClock{}.After(time.Duration(milliseconds) * time.Millisecond)
				},
				"": func(t *rapid.T) {
					synctest.Wait()
					m.check(t)
				},
			})
		})
	})
}

// model is what must happen, in the order in which it was asked for.
type model struct {
	now    func() time.Time
	mu     sync.Mutex
	due    []due
	faults []string
}

type due struct {
	key int
	// at is the instant asked for; when is the instant it can fire at, later
	// when what was asked for had passed.
	at, when time.Time
}

func (m *model) set(key int, at time.Time) {
	m.clear(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	when := at
	if now := m.now(); when.Before(now) {
		when = now
	}
	m.due = append(m.due, due{key: key, at: at, when: when})
}

func (m *model) clear(key int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.due = without(m.due, key)
}

func without(list []due, key int) []due {
	var kept []due
	for _, d := range list {
		if d.key != key {
			kept = append(kept, d)
		}
	}
	return kept
}

// first returns what must fire first: the earliest, of equals the one asked for first.
func (m *model) first() (due, bool) {
	if len(m.due) == 0 {
		return due{}, false
	}
	first := m.due[0]
	for _, d := range m.due[1:] {
		if d.at.Before(first.at) {
			first = d
		}
	}
	return first, true
}

func (m *model) fire(key int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	want, ok := m.first()
	switch {
	case !ok || want.key != key:
		m.faults = append(m.faults, fmt.Sprintf("key %d fired at %v, want %+v", key, now, want))
	case !want.when.Equal(now):
		m.faults = append(m.faults, fmt.Sprintf("key %d fired at %v, want %v", key, now, want.when))
	}
	m.due = without(m.due, key)
}

func (m *model) check(t *rapid.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, fault := range m.faults {
		t.Error(fault)
	}
	for _, d := range m.due {
		if !d.when.After(m.now()) {
			t.Errorf("key %d was due at %v and has not fired", d.key, d.when)
		}
	}
}

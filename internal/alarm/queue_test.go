// SPDX-License-Identifier: Apache-2.0

package alarm_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/alarm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, time.June, 15, 6, 50, 0, 0, time.UTC)

// shiftedClock is a fake clock whose wall time can be set without its timers
// noticing, as happens on a suspended machine or when the clock is stepped.
type shiftedClock struct {
	*clocktesting.FakeClock
	mu    sync.Mutex
	shift time.Duration
}

func (c *shiftedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.FakeClock.Now().Add(c.shift)
}

func (c *shiftedClock) shiftWall(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shift += by
}

// running is a queue being run, with a log of the keys that fired.
type running struct {
	*alarm.Queue[string]
	fired []string
}

// run runs a queue inside a synctest bubble until the test's context ends.
func run(t *testing.T, clock clock.Clock) *running {
	t.Helper()
	r := &running{Queue: alarm.New[string](clock)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		synctest.Wait()
	})
	go r.Run(ctx, func(key string) { r.fired = append(r.fired, key) })
	synctest.Wait()
	return r
}

// wantFired waits until the queue is at rest and compares what fired so far.
func (r *running) wantFired(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, r.fired); diff != "" {
		t.Fatalf("keys fired (-want +got):\n%s", diff)
	}
}

func TestAKeyFiresAtItsInstantAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := run(t, clock)
		q.Set("open", epoch.Add(10*time.Minute))
		q.wantFired(t)
		clock.Step(10*time.Minute - time.Nanosecond)
		q.wantFired(t)
		clock.Step(time.Nanosecond)
		q.wantFired(t, "open")
		clock.Step(time.Hour)
		q.wantFired(t, "open")
	})
}

func TestAnInstantThatHasPassedFiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := run(t, clocktesting.NewFakeClock(epoch))
		q.Set("now", epoch)
		q.wantFired(t, "now")
		q.Set("past", epoch.Add(-time.Hour))
		q.wantFired(t, "now", "past")
	})
}

func TestSettingAKeyAgainReplacesItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := run(t, clock)
		q.Set("a", epoch.Add(time.Minute))
		q.Set("b", epoch.Add(2*time.Minute))
		q.Set("a", epoch.Add(3*time.Minute))
		clock.Step(2 * time.Minute)
		q.wantFired(t, "b")
		clock.Step(time.Minute)
		q.wantFired(t, "b", "a")

		q.Set("a", epoch.Add(time.Hour))
		q.Set("a", epoch.Add(4*time.Minute))
		clock.Step(time.Minute)
		q.wantFired(t, "b", "a", "a")
	})
}

func TestAClearedKeyDoesNotFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := run(t, clock)
		q.Set("cleared", epoch.Add(time.Minute))
		q.Set("zeroed", epoch.Add(time.Minute))
		q.Set("kept", epoch.Add(time.Minute))
		q.Clear("cleared")
		q.Clear("never set")
		q.Set("zeroed", time.Time{})
		if at, ok := q.At("zeroed"); ok {
			t.Errorf("the zeroed key is still set for %v", at)
		}
		if at, ok := q.At("kept"); !ok || !at.Equal(epoch.Add(time.Minute)) {
			t.Errorf("the kept key is set for %v, %t", at, ok)
		}
		clock.Step(time.Minute)
		q.wantFired(t, "kept")
		if at, ok := q.At("kept"); ok {
			t.Errorf("the key that fired is still set for %v", at)
		}
	})
}

func TestKeysOfOneInstantFireInTheOrderTheyWereSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := run(t, clock)
		for _, key := range []string{"c", "a", "d", "b"} {
			q.Set(key, epoch.Add(time.Second))
		}
		clock.Step(time.Second)
		q.wantFired(t, "c", "a", "d", "b")
	})
}

func TestAForwardStepOfTheWallClockIsNoticedAtTheNextCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &shiftedClock{FakeClock: clocktesting.NewFakeClock(epoch)}
		q := run(t, clock)
		q.Set("close", epoch.Add(8*time.Hour))
		synctest.Wait()
		clock.shiftWall(8 * time.Hour)
		q.wantFired(t)
		clock.Step(alarm.RecheckInterval)
		q.wantFired(t, "close")
	})
}

func TestATimerThatFiresEarlyChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &shiftedClock{FakeClock: clocktesting.NewFakeClock(epoch)}
		q := run(t, clock)
		q.Set("open", epoch.Add(20*time.Second))
		synctest.Wait()
		clock.shiftWall(-time.Minute)
		clock.Step(20 * time.Second)
		q.wantFired(t)
		if _, ok := q.At("open"); !ok {
			t.Fatal("the early timer dropped the key")
		}
		clock.Step(alarm.RecheckInterval)
		q.wantFired(t)
		clock.Step(alarm.RecheckInterval)
		q.wantFired(t, "open")
	})
}

func TestAClockThatMovesWhileTheTimerIsArmedIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &jumpOnTimer{FakeClock: clocktesting.NewFakeClock(epoch)}
		q := run(t, clock)
		q.Set("open", epoch.Add(20*time.Second))
		q.wantFired(t)
		clock.Step(10 * time.Second)
		q.wantFired(t, "open")
	})
}

// jumpOnTimer moves on by ten seconds just before its first timer is armed.
type jumpOnTimer struct {
	*clocktesting.FakeClock
	jumped bool
}

func (c *jumpOnTimer) NewTimer(d time.Duration) clock.Timer {
	if !c.jumped {
		c.jumped = true
		c.Step(10 * time.Second)
	}
	return c.FakeClock.NewTimer(d)
}

func TestFireMaySetItsOwnKeyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := alarm.New[string](clock)
		ctx, cancel := context.WithCancel(t.Context())
		fired := 0
		go q.Run(ctx, func(key string) {
			fired++
			q.Set(key, clock.Now().Add(time.Minute))
		})
		q.Set("beat", epoch)
		for range 5 {
			synctest.Wait()
			clock.Step(time.Minute)
		}
		synctest.Wait()
		if fired != 6 {
			t.Errorf("fired %d times in five minutes, want 6", fired)
		}
		cancel()
		synctest.Wait()
	})
}

func TestRunEndsWithItsContextAndAnEmptyQueueArmsNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(epoch)
		q := alarm.New[string](clock)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			q.Run(ctx, func(string) {})
		}()
		synctest.Wait()
		if clock.HasWaiters() {
			t.Error("an empty queue armed a timer")
		}
		q.Set("open", epoch.Add(time.Hour))
		synctest.Wait()
		cancel()
		<-ended
		if clock.HasWaiters() {
			t.Error("a timer was left behind")
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package activation_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/internal/activation"
)

var bell = time.Date(2001, 2, 3, 9, 30, 0, 0, time.UTC)

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "trading", Name: name}
}

func keys(names ...string) []types.NamespacedName {
	all := make([]types.NamespacedName, len(names))
	for i, name := range names {
		all[i] = key(name)
	}
	return all
}

// asker is a gate together with those that it wakes.
type asker struct {
	*activation.Gate

	woken []string
}

func newAsker(o activation.Options) *asker {
	a := &asker{Gate: activation.New(o)}
	activation.OnWake(a.Gate, func(k types.NamespacedName) { a.woken = append(a.woken, k.Name) })
	return a
}

func (a *asker) want(t *testing.T, woken ...string) {
	t.Helper()
	if diff := cmp.Diff(woken, a.woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	a.woken = nil
}

// newTimed returns a gate of one place, its clock, and those that it wakes.
func newTimed() (*activation.Gate, *clocktesting.FakeClock, <-chan string) {
	clock := clocktesting.NewFakeClock(bell)
	g := activation.New(activation.Options{Limit: 1, Clock: clock})
	woken := make(chan string, 1)
	activation.OnWake(g, func(k types.NamespacedName) { woken <- k.Name })
	return g, clock, woken
}

func awaitWoken(t *testing.T, woken <-chan string, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case name := <-woken:
		if name != want {
			t.Errorf("%s was woken, want %s", name, want)
		}
	case <-ctx.Done():
		t.Error("nobody was woken")
	}
}

func TestWithoutALimitEverybodyStartsAtOnce(t *testing.T) {
	g := newAsker(activation.Options{})
	g.Expect(0, keys("a", "b"))
	for _, name := range []string{"a", "b", "c"} {
		if !g.Ask(key(name), 50, bell) {
			t.Errorf("%s has to wait", name)
		}
	}
	if waiting, running := g.Counts(); waiting != 0 || running != 3 {
		t.Errorf("%d wait and %d come up, want 0 and 3", waiting, running)
	}
}

func TestAFreedPlaceGoesByPriorityThenByWaitingTimeThenByName(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	if !g.Ask(key("first"), 0, bell) {
		t.Fatal("the first has to wait")
	}
	for _, w := range []struct {
		name     string
		priority int
		since    time.Time
	}{
		{"low", 10, bell.Add(-time.Hour)},
		{"late", 50, bell.Add(time.Second)},
		{"b", 50, bell},
		{"a", 50, bell},
		{"high", 200, bell.Add(time.Minute)},
	} {
		if g.Ask(key(w.name), w.priority, w.since) {
			t.Fatalf("%s does not wait", w.name)
		}
	}
	order := []string{"high", "a", "b", "late", "low"}
	for ahead, name := range order {
		if got, ok := g.Ahead(key(name)); !ok || got != ahead {
			t.Errorf("%d are ahead of %s (%t), want %d", got, name, ok, ahead)
		}
	}
	at := "first"
	for _, next := range order {
		g.Done(key(at))
		g.want(t, next)
		if !g.Ask(key(next), 0, bell) {
			t.Errorf("%s was woken and has to wait", next)
		}
		at = next
	}
}

func TestOneThatAsksAgainKeepsItsPlaceInTheLine(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Holds(key("up"))
	g.Ask(key("a"), 50, bell)
	g.Ask(key("b"), 50, bell)
	g.Ask(key("a"), 50, bell)
	g.Done(key("up"))
	g.want(t, "a")
}

func TestAChangedPriorityChangesTheRank(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Holds(key("up"))
	g.Ask(key("a"), 50, bell)
	g.Ask(key("b"), 50, bell)
	g.Ask(key("b"), 60, bell)
	g.Done(key("up"))
	g.want(t, "b")
}

func TestOneThatNoLongerWantsToStartLeavesTheLine(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Holds(key("up"))
	g.Ask(key("a"), 50, bell)
	g.Ask(key("b"), 50, bell)
	g.Done(key("a"))
	g.Done(key("up"))
	g.want(t, "b")
}

func TestOneThatIsWokenAndDoesNotWantItsPlaceLetsTheNextIn(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Holds(key("up"))
	g.Ask(key("a"), 50, bell)
	g.Ask(key("b"), 50, bell)
	g.Done(key("up"))
	g.Done(key("a"))
	g.want(t, "a", "b")
}

func TestWhatExistsAfterARestartHoldsItsPlaceWhateverTheLimit(t *testing.T) {
	g := newAsker(activation.Options{Limit: 2})
	g.Expect(0, keys("a", "b", "c", "d", "gone"))
	if g.Ask(key("d"), 255, bell) {
		t.Error("d starts before it is known what comes up already")
	}
	g.Holds(key("a"))
	g.Holds(key("b"))
	g.Holds(key("c"))
	g.Done(key("gone"))
	g.want(t)
	g.Done(key("a"))
	g.want(t) // two of the limit of two are left
	g.Done(key("b"))
	g.want(t, "d")
}

func TestAfterARestartThoseThatWaitAreRankedBeforeTheFirstIsLetIn(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Expect(0, keys("low", "high", "down"))
	g.Ask(key("low"), 1, bell)
	g.Ask(key("high"), 200, bell)
	g.want(t)
	g.Done(key("down"))
	g.want(t, "high")
}

func TestOneThatIsNotHeardOfKeepsOthersWaitingForSoLongOnly(t *testing.T) {
	g, clock, woken := newTimed()
	g.Expect(0, keys("silent", "a"))
	if g.Ask(key("a"), 50, bell) {
		t.Fatal("a starts before the other was heard of")
	}
	clock.Step(activation.Patience)
	awaitWoken(t, woken, "a")
}

func TestABellLetsNobodyInBeforeAllItConcernsAreRanked(t *testing.T) {
	g := newAsker(activation.Options{Limit: 2})
	g.Holds(key("up"))
	g.Gather(keys("low", "middle", "high", "not"))
	if g.Ask(key("low"), 1, bell) || g.Ask(key("high"), 200, bell) || g.Ask(key("middle"), 50, bell) {
		t.Error("one starts before all are ranked")
	}
	g.want(t)
	g.Done(key("not"))
	g.want(t, "high")
	if !g.Ask(key("high"), 200, bell) {
		t.Error("high was woken and has to wait")
	}
	g.Done(key("up"))
	g.want(t, "middle")
}

func TestABellIsNotAnsweredByWhatBeganBeforeItRang(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Begin(key("high"))
	g.Gather(keys("low", "high"))
	g.Done(key("high")) // since it had looked at the schedule before
	if g.Ask(key("low"), 1, bell) {
		t.Fatal("low starts before high is ranked")
	}
	g.Begin(key("high"))
	g.Gather(keys("low", "high")) // another one
	g.Done(key("high"))
	if g.Ask(key("low"), 1, bell) {
		t.Fatal("low starts before high is ranked after the second bell")
	}
	g.Begin(key("high"))
	if !g.Ask(key("high"), 200, bell) {
		t.Error("high has to wait")
	}
	g.want(t)
}

func TestABellWaitsForOneThatIsNotHeardOfForSoLongOnly(t *testing.T) {
	g, clock, woken := newTimed()
	g.Gather(keys("silent", "a"))
	g.Ask(key("a"), 50, bell)
	clock.Step(activation.GatherPatience / 2)
	g.Gather(keys("silent", "a")) // the bell rings again, and does not begin the wait anew
	g.Ask(key("a"), 50, bell)
	clock.Step(activation.GatherPatience / 2)
	awaitWoken(t, woken, "a")
}

// Schedules that flap, or machines of which nobody can tell what they need, must
// not keep the others down.
func TestBellsThatKeepRingingKeepOthersWaitingForSoLongOnly(t *testing.T) {
	g, clock, woken := newTimed()
	g.Gather(keys("silent", "a"))
	g.Ask(key("a"), 50, bell)
	const pause = activation.GatherPatience * 3 / 4
	for rung := range int(activation.Patience / pause) {
		clock.Step(pause)
		g.Gather(keys("silent-" + strconv.Itoa(rung)))
	}
	clock.Step(pause)
	awaitWoken(t, woken, "a")
}

func TestEachPartitionHasItsShareOfTheLimit(t *testing.T) {
	tests := map[string]struct {
		limit, partitions int
		want              []int
	}{
		"it divides evenly":       {limit: 8, partitions: 4, want: []int{2, 2, 2, 2}},
		"what is left goes first": {limit: 7, partitions: 3, want: []int{3, 2, 2}},
		"each has one at least":   {limit: 2, partitions: 4, want: []int{1, 1, 1, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := activation.New(activation.Options{
				Limit: test.limit, Partitions: test.partitions,
				PartitionOf: func(k types.NamespacedName) int { return int(k.Name[0] - '0') },
			})
			got := make([]int, test.partitions)
			for partition := range got {
				for i := range 10 {
					if g.Ask(key(string(rune('0'+partition))+strings.Repeat("x", i)), 50, bell) {
						got[partition]++
					}
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAForgottenPartitionHoldsNothing(t *testing.T) {
	g := newAsker(activation.Options{Limit: 1})
	g.Holds(key("up"))
	g.Ask(key("a"), 50, bell)
	g.Forget(0)
	if waiting, running := g.Counts(); waiting+running != 0 {
		t.Errorf("%d wait and %d come up, want none", waiting, running)
	}
	g.want(t)
}

// TestAnyOrderOfEventsKeepsTheLimitAndTheOrder plays machines against a plain
// model of the rules.
func TestAnyOrderOfEventsKeepsTheLimitAndTheOrder(t *testing.T) {
	type waiter struct {
		name     string
		priority int
		since    time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		g := newAsker(activation.Options{Limit: limit})
		holders, waiting := map[string]bool{}, map[string]waiter{}
		order := func() []waiter {
			var all []waiter
			for _, w := range waiting {
				all = append(all, w)
			}
			slices.SortFunc(all, func(a, b waiter) int {
				switch {
				case a.priority != b.priority:
					return b.priority - a.priority
				case !a.since.Equal(b.since):
					return a.since.Compare(b.since)
				}
				return strings.Compare(a.name, b.name)
			})
			return all
		}
		letIn := func() (in []string) {
			for _, w := range order() {
				if len(holders) >= limit {
					break
				}
				holders[w.name] = true
				delete(waiting, w.name)
				in = append(in, w.name)
			}
			return in
		}
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "name")
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0, 1, 2:
				w := waiter{name, rapid.IntRange(0, 2).Draw(t, "priority"), bell.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "since")) * time.Second)}
				got := g.Ask(key(name), w.priority, w.since)
				if !holders[name] {
					waiting[name] = w
					letIn()
				}
				if got != holders[name] {
					t.Fatalf("%s starts: %t, want %t", name, got, holders[name])
				}
				g.woken = nil
			case 3:
				g.Done(key(name))
				delete(holders, name)
				delete(waiting, name)
				if want := letIn(); !slices.Equal(want, g.woken) {
					t.Fatalf("woken are %v, want %v", g.woken, want)
				}
				g.woken = nil
			case 4:
				g.Holds(key(name))
				delete(waiting, name)
				holders[name] = true
			}
			w, r := g.Counts()
			if w != len(waiting) || r != len(holders) {
				t.Fatalf("%d wait and %d come up, want %d and %d", w, r, len(waiting), len(holders))
			}
			for ahead, w := range order() {
				if got, ok := g.Ahead(key(w.name)); !ok || got != ahead {
					t.Fatalf("%d are ahead of %s (%t), want %d", got, w.name, ok, ahead)
				}
			}
		}
	})
}

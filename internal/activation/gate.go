// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Patience bounds for how long a gate stays shut because it has not heard of
// every key that it was told to expect, GatherPatience of every one that it was
// told to gather.
const (
	Patience       = 10 * time.Second
	GatherPatience = 5 * time.Second
)

// Options of a [Gate]. The zero value of a field means what its comment says.
type Options struct {
	// Limit is how many machines may come up at a time. Zero: any number.
	Limit int
	// Partitions and PartitionOf divide the keys into parts of which each has its
	// share of the limit, at least one place. Zero and nil: no division. With
	// shards, a part is a shard: whoever holds it can tell by itself who may
	// start, and the limit holds for all replicas together.
	Partitions  int
	PartitionOf func(types.NamespacedName) int
	// Clock tells the time. Nil: the wall clock.
	Clock clock.Clock
}

// Gate bounds how many machines come up at a time. A reconcile calls [Gate.Begin]
// before it looks at anything, and exactly one of [Gate.Ask], [Gate.Holds] and
// [Gate.Done] once it knows what its machine needs. Methods may be called from any
// goroutine.
type Gate struct {
	partitionOf func(types.NamespacedName) int
	clock       clock.Clock

	mu    sync.Mutex
	parts []part
	wake  func(types.NamespacedName) // nil until somebody listens
	calls int                        // of Expect and Gather
}

// part is one partition.
type part struct {
	limit   int // 0: none
	holders map[types.NamespacedName]struct{}
	waiting line
	// awaited are the keys to hear of before anyone is let in.
	awaited map[types.NamespacedName]awaited
	// begun is how many calls there were when the last reconcile of a key began: it
	// knows nothing of a bell that rang later.
	begun map[types.NamespacedName]int
	// shut is since when nobody is let in, while there are any such keys.
	shut time.Time
}

// awaited has the numbers of the first and the last call that asked to hear of a key:
// the first one's patience is what counts, and the last one's bell is to be answered.
type awaited struct{ first, last int }

// New returns a gate at which nobody waits.
func New(o Options) *Gate {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Partitions < 1 || o.PartitionOf == nil {
		o.Partitions, o.PartitionOf = 1, func(types.NamespacedName) int { return 0 }
	}
	g := &Gate{partitionOf: o.PartitionOf, clock: o.Clock, parts: make([]part, o.Partitions)}
	for i := range g.parts {
		g.parts[i] = part{limit: share(o.Limit, o.Partitions, i)}
		g.parts[i].forget()
	}
	return g
}

// share returns the part of a limit that partition i of n gets.
func share(limit, n, i int) int {
	if limit <= 0 {
		return 0
	}
	mine := limit / n
	if i < limit%n {
		mine++
	}
	return max(mine, 1)
}

// Begin notes that a reconcile of key begins to look at what there is.
func (g *Gate) Begin(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.part(key).begun[key] = g.calls
}

// Ask reports whether the machine of key may start now. Then it holds a place
// until [Gate.Done]. Otherwise it waits in the line, at the rank that its
// priority (higher goes first) and the instant since which it waits give it, and
// is woken when a place is its own.
func (g *Gate) Ask(key types.NamespacedName, priority int, since time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.part(key)
	p.hear(key)
	if _, held := p.holders[key]; !held {
		p.waiting.put(ticket{key, priority, since})
	}
	g.admit(p, key)
	_, held := p.holders[key]
	return held
}

// Holds notes that key holds a place, whatever the limit: its Machine exists and
// is coming up.
func (g *Gate) Holds(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.part(key)
	p.hear(key)
	p.waiting.remove(key)
	p.holders[key] = struct{}{}
	g.admit(p, key)
}

// Done notes that key neither holds a place nor waits for one: its machine runs,
// has failed, is down or is not to start. A place that this frees goes to the
// first in the line, who is woken.
func (g *Gate) Done(key types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.part(key)
	p.hear(key)
	p.waiting.remove(key)
	delete(p.holders, key)
	delete(p.begun, key)
	g.admit(p, key)
}

// Ahead returns how many are before key in the line, or false when it does not wait.
func (g *Gate) Ahead(key types.NamespacedName) (int, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.part(key).waiting.position(key)
}

// Expect shuts a partition until the gate has heard of each of these keys, or
// for [Patience]. It is called with every key of the partition before any of
// them is reconciled: so those that hold a place already are counted, and those
// that wait are ranked, before the first is let in. What was known of the
// partition is forgotten.
func (g *Gate) Expect(partition int, keys []types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parts[partition].forget()
	g.await(partition, keys, Patience)
}

// Gather shuts the partitions of these keys until the gate has heard of each, or
// for [GatherPatience]. It is called with all machines that a bell may start,
// before they are reconciled: so whichever is reconciled first, the places go by
// rank. Bells that ring one after the other keep a partition shut for no longer
// than [Patience].
func (g *Gate) Gather(keys []types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for partition, keys := range g.divide(keys) {
		g.await(partition, keys, GatherPatience)
	}
}

// await has a partition wait for keys, but for so long only.
func (g *Gate) await(partition int, keys []types.NamespacedName, patience time.Duration) {
	p := &g.parts[partition]
	if p.limit == 0 || len(keys) == 0 {
		return
	}
	now := g.clock.Now()
	if len(p.awaited) == 0 {
		p.shut = now
	}
	patience = min(patience, p.shut.Add(Patience).Sub(now))
	if patience <= 0 {
		return
	}
	g.calls++
	call := g.calls
	for _, key := range keys {
		asked, earlier := p.awaited[key]
		if !earlier {
			asked.first = call
		}
		asked.last = call
		p.awaited[key] = asked
	}
	timer := g.clock.NewTimer(patience)
	go func() {
		<-timer.C()
		g.giveUp(partition, call)
	}()
}

// giveUp waits no longer for the keys that a call has asked to wait for.
func (g *Gate) giveUp(partition, call int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := &g.parts[partition]
	maps.DeleteFunc(p.awaited, func(_ types.NamespacedName, asked awaited) bool { return asked.first == call })
	g.admit(p, types.NamespacedName{})
}

// Forget drops what is known of a partition that is somebody else's from now on.
func (g *Gate) Forget(partition int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parts[partition].forget()
}

// divide returns which of the keys are of each partition.
func (g *Gate) divide(keys []types.NamespacedName) [][]types.NamespacedName {
	byPartition := make([][]types.NamespacedName, len(g.parts))
	for _, key := range keys {
		partition := g.partitionOf(key)
		byPartition[partition] = append(byPartition[partition], key)
	}
	return byPartition
}

// Partitions returns how many parts the keys are divided into.
func (g *Gate) Partitions() int { return len(g.parts) }

// Counts returns how many wait and how many hold a place.
func (g *Gate) Counts() (waiting, running int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.parts {
		waiting += len(g.parts[i].waiting.tickets)
		running += len(g.parts[i].holders)
	}
	return waiting, running
}

// onWake has wake called, with the lock held, for every key that gets a place
// otherwise than by asking.
func (g *Gate) onWake(wake func(types.NamespacedName)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wake = wake
}

func (g *Gate) part(key types.NamespacedName) *part { return &g.parts[g.partitionOf(key)] }

// admit gives the places that are free to the first in the line, and wakes them
// but for the one that is asking.
func (g *Gate) admit(p *part, asking types.NamespacedName) {
	for p.free() {
		first, ok := p.waiting.pop()
		if !ok {
			return
		}
		p.holders[first.key] = struct{}{}
		if first.key != asking && g.wake != nil {
			g.wake(first.key)
		}
	}
}

// hear notes that a reconcile tells what key needs. It is not heard of by one that had
// begun before it was awaited: another one follows.
func (p *part) hear(key types.NamespacedName) {
	if began, known := p.begun[key]; !known || began >= p.awaited[key].last {
		delete(p.awaited, key)
	}
}

func (p *part) free() bool {
	return len(p.awaited) == 0 && (p.limit == 0 || len(p.holders) < p.limit)
}

func (p *part) forget() {
	p.waiting = line{}
	p.holders = map[types.NamespacedName]struct{}{}
	p.awaited = map[types.NamespacedName]awaited{}
	p.begun = map[types.NamespacedName]int{}
}

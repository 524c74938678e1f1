// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// world is some replicas and an API server that serves leases. Requests,
// answers and watch events arrive late or never; replicas are killed, stopped
// and started; their clocks differ.
type world struct {
	failer

	now      time.Time
	leases   map[string]*coordinationv1.Lease
	version  int
	log      []event // all changes, in order
	replicas []*process
	started  int
	// late are writes whose sender has given up and that may still arrive.
	late []*coordinationv1.Lease
}

// failer is a test, of whichever kind.
type failer interface {
	Fatalf(format string, args ...any)
}

// event is a change of a lease.
type event struct {
	name  string
	lease *coordinationv1.Lease
}

// process is a running replica.
type process struct {
	name  string
	state *replica
	skew  time.Duration
	seen  int // events of the log that its watch has brought
	// asked is the request under way; answered is true once the server has done it.
	asked    request
	began    time.Time
	arrived  bool
	lease    *coordinationv1.Lease
	err      error
	work     []*holding
	stopping bool
}

const (
	modelLeaseDuration = 8 * time.Second
	modelRenewDeadline = 5 * time.Second
	modelRetryPeriod   = time.Second
	sharedName         = "leader"
)

var errLost = errors.New("no answer")

func newWorld(t failer) *world {
	return &world{failer: t, now: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC), leases: map[string]*coordinationv1.Lease{}}
}

func (w *world) start(shards int) *process {
	w.started++
	name, joins := fmt.Sprintf("r%d", w.started), 0
	p := &process{
		name: name,
		skew: time.Duration(w.started%5-2) * time.Hour,
		state: newReplica(settings{
			shards: shards, namespace: "system", lease: sharedName,
			leaseDuration: modelLeaseDuration, renewDeadline: modelRenewDeadline, retryPeriod: modelRetryPeriod,
			newIdentity: func() string { joins++; return fmt.Sprintf("%s_%d", name, joins) },
		}),
	}
	w.replicas = append(w.replicas, p)
	return p
}

func (w *world) clock(p *process) time.Time { return w.now.Add(p.skew) }

// write is what the API server does with a create or an update.
func (w *world) write(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	resource := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	switch existing := w.leases[lease.Name]; {
	case lease.ResourceVersion == "" && existing != nil:
		return nil, apierrors.NewAlreadyExists(resource, lease.Name)
	case lease.ResourceVersion != "" && existing == nil:
		return nil, apierrors.NewNotFound(resource, lease.Name)
	case existing != nil && existing.ResourceVersion != lease.ResourceVersion:
		return nil, apierrors.NewConflict(resource, lease.Name, errors.New("modified"))
	}
	w.version++
	stored := lease.DeepCopy()
	stored.ResourceVersion = strconv.Itoa(w.version)
	w.leases[lease.Name] = stored
	w.log = append(w.log, event{lease.Name, stored})
	return stored.DeepCopy(), nil
}

func (w *world) read(name string) (*coordinationv1.Lease, error) {
	if lease := w.leases[name]; lease != nil {
		return lease.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, name)
}

// ask has a process decide, and sends its request.
func (w *world) ask(p *process) {
	if p.asked != nothing {
		return
	}
	p.asked, _ = p.state.next(w.clock(p))
	p.began = w.clock(p)
}

// arrive has the server do what was asked.
func (w *world) arrive(p *process) {
	if p.asked == nothing || p.arrived {
		return
	}
	p.arrived = true
	if p.asked.write != nil {
		p.lease, p.err = w.write(p.asked.write)
	} else {
		p.lease, p.err = w.read(p.asked.name)
	}
}

// answer brings the answer, or the news that there is none.
func (w *world) answer(p *process, lost bool) {
	if p.asked == nothing || !p.arrived && !lost {
		return
	}
	if lost {
		if !p.arrived && p.asked.write != nil {
			w.late = append(w.late, p.asked.write)
		}
		p.lease, p.err = nil, errLost
	}
	p.state.answered(p.asked, p.lease, p.err, p.began, w.clock(p))
	p.asked, p.arrived, p.lease, p.err = nothing, false, nil, nil
}

// watch brings events.
func (w *world) watch(p *process, n int) {
	for ; n > 0 && p.seen < len(w.log); n-- {
		e := w.log[p.seen]
		p.seen++
		p.state.observe(e.lease.DeepCopy(), w.clock(p))
	}
	if p.seen == len(w.log) {
		p.state.synced = true
	}
}

// tell has the gained shards opened for work.
func (w *world) tell(p *process) {
	for _, h := range p.state.gained {
		h.ready = true
	}
	p.state.gained, p.state.lost = nil, nil
}

func (w *world) begin(p *process, shard int) {
	if h := p.state.begin(shard, w.clock(p)); h != nil {
		p.work = append(p.work, h)
	}
}

func (w *world) end(p *process) {
	if len(p.work) > 0 {
		p.state.end(p.work[0])
		p.work = p.work[1:]
	}
}

// advance moves the time. The fences of all processes watch it.
func (w *world) advance(d time.Duration) {
	w.now = w.now.Add(d)
	for _, p := range w.replicas {
		if p.state.identity != "" && !p.state.acting(w.clock(p)) {
			p.state.lose()
		}
	}
}

// check fails when two replicas may work on one shard, or replicas of two
// numbers of shards work.
func (w *world) check() {
	holders := map[int]string{}
	numbers := map[int]bool{}
	for _, p := range w.replicas {
		for shard, h := range p.state.held {
			if !p.state.acting(w.clock(p)) {
				continue
			}
			if h.draining && h.inFlight == 0 {
				continue // it is being let go: no work of it is under way, and none can begin
			}
			numbers[p.state.shards] = true
			if other, twice := holders[shard]; twice {
				w.Fatalf("shard %d is held by %s and by %s", shard, other, p.name)
			}
			holders[shard] = p.name
			if h.context.Err() != nil {
				w.Fatalf("%s holds shard %d, and the context of its work has ended", p.name, shard)
			}
		}
		// What is under way of a shard that was lost has been told to stop.
		for _, h := range p.work {
			if p.state.held[h.shard] != h && h.context.Err() == nil {
				w.Fatalf("work of shard %d goes on at %s, which does not hold it", h.shard, p.name)
			}
		}
	}
	if len(numbers) > 1 {
		w.Fatalf("replicas of different numbers of shards work at the same time: %v", slices.Sorted(maps.Keys(numbers)))
	}
}

// disturb does one thing at random.
func (w *world) disturb(t *rapid.T, numbers []int) {
	at := rapid.IntRange(0, 99).Draw(t, "what")
	if len(w.replicas) == 0 || at < 2 && len(w.replicas) < 5 {
		w.start(rapid.SampledFrom(numbers).Draw(t, "shards"))
		return
	}
	i := rapid.IntRange(0, len(w.replicas)-1).Draw(t, "who")
	p := w.replicas[i]
	switch {
	case at < 4: // killed
		if p.asked.write != nil && !p.arrived {
			w.late = append(w.late, p.asked.write)
		}
		w.replicas = slices.Delete(w.replicas, i, i+1)
	case at < 5:
		if !p.stopping {
			p.stopping = true
			p.state.stop()
		}
	case at < 40: // all is well
		for range rapid.IntRange(1, 8).Draw(t, "requests") {
			w.ask(p)
			w.arrive(p)
			w.answer(p, false)
		}
		w.watch(p, len(w.log))
		w.tell(p)
	case at < 45:
		w.ask(p)
	case at < 50:
		w.arrive(p)
	case at < 55:
		w.answer(p, false)
	case at < 57:
		w.answer(p, true)
	case at < 60:
		if len(w.late) > 0 {
			_, _ = w.write(w.late[0])
			w.late = w.late[1:]
		}
	case at < 65:
		w.watch(p, rapid.IntRange(1, 10).Draw(t, "events"))
	case at < 70:
		w.tell(p)
	case at < 75:
		w.begin(p, rapid.IntRange(0, p.state.shards-1).Draw(t, "shard"))
	case at < 80:
		w.end(p)
	case at < 97:
		w.advance(time.Duration(rapid.IntRange(1, 800).Draw(t, "milliseconds")) * time.Millisecond)
	default:
		w.advance(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
	}
	w.replicas = slices.DeleteFunc(w.replicas, func(p *process) bool { return p.state.finished() && len(p.work) == 0 })
}

// heal lets everything arrive for as long as it takes to come to rest.
func (w *world) heal() {
	for range 40 {
		passes := 0
		for busy := true; busy; passes++ {
			if busy = false; passes > 1000 {
				w.Fatalf("it never comes to rest:\n%s", w.describe())
			}
			for _, p := range w.replicas {
				w.ask(p)
				busy = busy || p.asked != nothing || p.seen < len(w.log) || len(p.work) > 0
				w.arrive(p)
				w.answer(p, false)
				w.watch(p, len(w.log))
				w.tell(p)
				w.end(p)
				w.check()
			}
			w.replicas = slices.DeleteFunc(w.replicas, func(p *process) bool { return p.state.finished() && len(p.work) == 0 })
		}
		w.advance(500 * time.Millisecond)
		w.check()
	}
}

// checkRest fails unless all shards are held, evenly, by all replicas that have
// the number of shards that won.
func (w *world) checkRest() {
	held, working := map[int]int{}, 0
	total := map[int]int{}
	for _, p := range w.replicas {
		total[p.state.shards] += len(p.state.held)
	}
	for shards, n := range total {
		if n == 0 {
			continue
		}
		if n != shards {
			w.Fatalf("%d of %d shards are held", n, shards)
		}
		for _, p := range w.replicas {
			if p.state.shards == shards {
				working++
				held[len(p.state.held)]++
			}
		}
		if least, most := slices.Min(slices.Collect(maps.Keys(held))), slices.Max(slices.Collect(maps.Keys(held))); most-least > 1 {
			w.Fatalf("one replica holds %d shards and another %d", least, most)
		}
	}
	if len(w.replicas) > 0 && working == 0 {
		w.Fatalf("nobody works:\n%s", w.describe())
	}
}

func (w *world) describe() string {
	var text strings.Builder
	for _, p := range w.replicas {
		fmt.Fprintf(&text, "%s of %d: identity %q, holds %d, waits: %s\n", p.name, p.state.shards, p.state.identity, len(p.state.held), p.state.waiting)
	}
	return text.String()
}

func TestNoShardIsEverInTwoHandsAndAllComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 4).Draw(t, "replicas") {
			w.start(4)
		}
		for range rapid.IntRange(50, 600).Draw(t, "steps") {
			w.disturb(t, []int{4})
			w.check()
		}
		w.heal()
		w.checkRest()
	})
}

func TestReplicasOfTwoNumbersOfShardsNeverWorkTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.start(3)
		w.start(4)
		for range rapid.IntRange(50, 600).Draw(t, "steps") {
			w.disturb(t, []int{3, 4})
			w.check()
		}
		w.heal()
		w.checkRest()
	})
}

// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// settings are what a replica is started with.
type settings struct {
	shards           int
	namespace, lease string // of the shared Lease
	leaseDuration    time.Duration
	renewDeadline    time.Duration
	retryPeriod      time.Duration
	newIdentity      func() string
}

// replica is all that one replica knows and decides. It is told of leases
// (observe, forget), of instants and of the answers to its requests, and names
// the one next request to make (next). It does nothing by itself.
type replica struct {
	settings

	leases map[string]*coordinationv1.Lease // the newest known, by name
	// known names what has been read, or reported by the watch; everything once
	// that is synced.
	known  map[string]bool
	synced bool
	// stale names leases to read before they are written: the answer to a write
	// was an error, and that may or may not have taken effect.
	stale   map[string]bool
	retryAt map[string]time.Time
	// sightings tell since when each replica's annotation has been as it is.
	sightings map[string]sighting
	// record is the sighting of the shared Lease while others hold it.
	record sighting

	// identity is the one under which this is among the replicas; "" if it is not.
	identity string
	// candidate is the identity that it tries to join under.
	candidate string
	// previous is an identity that it has lost and that may still be among the replicas.
	previous string
	// attempt is the last heartbeat that was sent, renewed the instant at which
	// the last one that succeeded was, beatAt when the next one is due.
	attempt sighting
	renewed time.Time
	beatAt  time.Time

	held map[int]*holding
	// inFlight counts reconciles under way, those of lost shards included.
	inFlight int
	stopping bool
	// waiting says why it is not among the replicas; "" if nothing is wrong.
	waiting string
	// gained are the holdings that nobody has been told of.
	gained []*holding
	// lost are the shards that are not held any more and of which nobody has been told.
	lost []int
}

// sighting is a value and the instant at which it was first seen.
type sighting struct {
	value string
	at    time.Time
}

// holding is a shard that this replica holds.
type holding struct {
	shard int
	// ready is true once whoever has to has been told of it.
	ready bool
	// draining is true when it takes no more work.
	draining bool
	inFlight int
	// context ends when the shard is lost.
	context context.Context
	cancel  context.CancelFunc
}

func newReplica(s settings) *replica {
	return &replica{
		settings: s,
		leases:   map[string]*coordinationv1.Lease{}, known: map[string]bool{},
		stale: map[string]bool{}, retryAt: map[string]time.Time{}, sightings: map[string]sighting{},
		held: map[int]*holding{},
	}
}

// acting reports whether work may be done at this instant.
func (r *replica) acting(now time.Time) bool {
	return r.identity != "" && longest(r.renewed, now) < r.renewDeadline
}

// begin starts a reconcile of a shard, or returns nil when it is not for this
// replica to do.
func (r *replica) begin(shard int, now time.Time) *holding {
	if r.identity != "" && !r.acting(now) {
		r.lose() // for good: what is turned away now is not asked for again until the shard is gained
	}
	h := r.held[shard]
	if h == nil || !h.ready || h.draining {
		return nil
	}
	h.inFlight++
	r.inFlight++
	return h
}

// end ends a reconcile that begin started.
func (r *replica) end(h *holding) {
	h.inFlight--
	r.inFlight--
}

// stop has the replica give up what it holds and go. It is gone when finished
// reports so.
func (r *replica) stop() {
	r.stopping = true
	for _, h := range r.held {
		h.draining = true
	}
}

func (r *replica) finished() bool { return r.stopping && r.identity == "" }

// lose ends all work: the replica is none any more, or cannot tell.
func (r *replica) lose() {
	r.previous, r.identity = r.identity, ""
	for shard := range r.held {
		r.drop(shard)
	}
}

// drop ends all work of a shard.
func (r *replica) drop(shard int) {
	r.held[shard].cancel()
	delete(r.held, shard)
	r.lost = append(r.lost, shard)
}

func (r *replica) gain(shard int) {
	h := &holding{shard: shard, draining: r.stopping}
	h.context, h.cancel = context.WithCancel(context.Background())
	r.held[shard] = h
	r.gained = append(r.gained, h)
}

// observe takes in a lease as it was at some time. What is older than what is
// known changes nothing.
func (r *replica) observe(lease *coordinationv1.Lease, now time.Time) {
	name := lease.Name
	r.known[name] = true
	if !newer(lease, r.leases[name]) {
		return
	}
	r.leases[name] = lease
	if name == r.lease {
		r.observeShared(lease, now)
		return
	}
	for shard := range r.shards {
		if name == LeaseName(shard) {
			r.observeShard(shard, lease)
		}
	}
}

// forget takes in that there is no lease of this name.
func (r *replica) forget(name string) {
	r.known[name] = true
	delete(r.leases, name)
	if name == r.lease && r.identity != "" {
		r.lose()
	}
	for shard := range r.held {
		if name == LeaseName(shard) {
			r.drop(shard)
		}
	}
}

func (r *replica) observeShared(lease *coordinationv1.Lease, now time.Time) {
	if r.record.value != lease.ResourceVersion {
		r.record = sighting{lease.ResourceVersion, now}
	}
	seen := map[string]sighting{}
	for _, identity := range identities(lease) {
		value, _ := annotationOf(lease, identity)
		if seen[identity] = r.sightings[identity]; seen[identity].value != value {
			seen[identity] = sighting{value, now}
		}
	}
	r.sightings = seen
	ours := holderOf(lease) == Holder(r.shards)
	if r.identity == "" && r.candidate != "" && ours && hasReplica(lease, r.candidate) {
		r.identity, r.candidate, r.previous, r.waiting = r.candidate, "", "", ""
	}
	switch {
	case r.identity == "":
	case !ours || !hasReplica(lease, r.identity):
		r.lose()
	case seen[r.identity].value == r.attempt.value:
		r.renewed = r.attempt.at
	}
}

func (r *replica) observeShard(shard int, lease *coordinationv1.Lease) {
	mine := r.identity != "" && holderOf(lease) == r.identity
	switch held := r.held[shard] != nil; {
	case mine && !held:
		r.gain(shard)
	case held && !mine:
		r.drop(shard)
	}
}

// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// request is what a replica wants to have done at the API server.
type request struct {
	// name is that of a lease to read, if write is nil; "" if there is nothing to do.
	name string
	// write is a lease to create, if it has no resource version, or to update.
	write *coordinationv1.Lease
}

// lease returns the name of the lease that is read or written.
func (q request) lease() string {
	if q.write != nil {
		return q.write.Name
	}
	return q.name
}

// next returns the next request to make, none if there is nothing to do before
// the instant that it returns, unless something happens.
func (r *replica) next(now time.Time) (request, time.Time) {
	if r.identity != "" && !r.acting(now) {
		r.lose()
	}
	if r.identity == "" {
		return r.nextOutside(now)
	}
	return r.nextInside(now)
}

// nextOutside joins the replicas, once nothing of an earlier time is under way.
func (r *replica) nextOutside(now time.Time) (request, time.Time) {
	if r.stopping || r.inFlight > 0 {
		return request{}, never
	}
	if at := r.retryAt[r.lease]; now.Before(at) {
		return request{}, at
	}
	if r.unread(r.lease) {
		return request{name: r.lease}, now
	}
	lease := r.leases[r.lease]
	holder := holderOf(lease)
	if lease != nil && holder != "" && holder != Holder(r.shards) {
		duration := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 1)) * time.Second
		if left := duration - shortest(r.record.at, now); left > 0 {
			r.waiting = heldByOthers(lease, r.shards)
			return request{}, now.Add(left)
		}
	}
	if r.candidate == "" {
		r.candidate = r.newIdentity()
	}
	return request{write: r.heartbeat(r.candidate, now)}, now
}

// never is later than anything.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func heldByOthers(lease *coordinationv1.Lease, shards int) string {
	holder := holderOf(lease)
	if n, ok := lease.Annotations[AnnotationShards]; ok && holder == n+"-shards" {
		return fmt.Sprintf("the lease %s is held by replicas with --shards=%s, and this one has --shards=%d: it does nothing until they are gone; give all replicas the same number",
			lease.Name, n, shards)
	}
	return fmt.Sprintf("the lease %s is held by %s, which works without shards, and this one has --shards=%d: it does nothing until that is gone; give all replicas the same number",
		lease.Name, holder, shards)
}

// nextInside renews first, then lets go, then takes.
func (r *replica) nextInside(now time.Time) (request, time.Time) {
	wait := earliest(r.heartbeatDue(now), r.renewed.Add(r.renewDeadline))
	switch at := r.retryAt[r.lease]; {
	case now.Before(at):
		wait = earliest(at, r.renewed.Add(r.renewDeadline))
	case r.unread(r.lease):
		return request{name: r.lease}, now
	case !now.Before(r.heartbeatDue(now)):
		return request{write: r.heartbeat(r.identity, now)}, now
	case r.stopping && len(r.held) == 0:
		return request{write: r.departure(now)}, now
	}
	for _, change := range r.changes() {
		name := LeaseName(change.shard)
		if at := r.retryAt[name]; now.Before(at) {
			wait = earliest(wait, at)
			continue
		}
		if r.unread(name) {
			return request{name: name}, now
		}
		return request{write: r.shardLease(change, now)}, now
	}
	return request{}, wait
}

// change is a shard's change of hands; the holder is "" where it is let go.
type change struct {
	shard  int
	holder string
}

// changes returns what this replica is to do about the shards, and marks the one
// that it is to hand over.
func (r *replica) changes() []change {
	if !r.synced {
		return nil
	}
	plan := assign(r.identity, r.takingPart(), r.holders())
	if h := r.held[plan.give]; h != nil && !r.drainingAny() {
		h.draining = true
	}
	var all []change
	for _, shard := range slices.Sorted(maps.Keys(r.held)) {
		if h := r.held[shard]; h.draining && h.inFlight == 0 {
			all = append(all, change{shard: shard})
		}
	}
	if r.stopping {
		return all
	}
	for _, shard := range plan.take {
		all = append(all, change{shard, r.identity})
	}
	return all
}

func (r *replica) drainingAny() bool {
	for _, h := range r.held {
		if h.draining {
			return true
		}
	}
	return false
}

// takingPart returns the replicas that shards are divided among.
func (r *replica) takingPart() []string {
	lease := r.leases[r.lease]
	return slices.DeleteFunc(identities(lease), func(identity string) bool {
		value, _ := annotationOf(lease, identity)
		return parseMember(value, r.leaseDuration).Leaving
	})
}

// holders returns who holds each shard; "" where it may be taken. An identity
// that is not among the replicas is gone for good, if what is known of them is
// newer than its claim.
func (r *replica) holders() []string {
	shared := r.leases[r.lease]
	all := make([]string, r.shards)
	for shard := range all {
		lease := r.leases[LeaseName(shard)]
		holder := holderOf(lease)
		if holder == "" || !hasReplica(shared, holder) && newer(shared, lease) {
			continue
		}
		all[shard] = holder
	}
	return all
}

// unread reports whether a lease has to be read before it is written.
func (r *replica) unread(name string) bool {
	return r.stale[name] || !r.known[name] && !r.synced
}

// heartbeatDue returns when to write the shared Lease next: to renew, to say
// that this replica leaves, or to take out one that has not renewed in time.
func (r *replica) heartbeatDue(now time.Time) time.Time {
	due := r.beatAt
	if own, _ := annotationOf(r.leases[r.lease], r.identity); r.stopping && !parseMember(own, 0).Leaving {
		return time.Time{}
	}
	for identity, seen := range r.sightings {
		switch at := seen.at.Add(parseMember(seen.value, r.leaseDuration).duration()); {
		case identity == r.identity:
		case r.gone(identity, now):
			return time.Time{}
		case at.After(now):
			due = earliest(due, at)
		}
	}
	return due
}

func (r *replica) gone(identity string, now time.Time) bool {
	seen := r.sightings[identity]
	return identity == r.previous || shortest(seen.at, now) >= parseMember(seen.value, r.leaseDuration).duration()
}

// heartbeat returns the shared Lease with this replica's annotation renewed and
// without those that have not renewed theirs.
func (r *replica) heartbeat(identity string, now time.Time) *coordinationv1.Lease {
	own := member{
		RenewTime:            metav1.NewMicroTime(now),
		LeaseDurationSeconds: int(r.leaseDuration / time.Second),
		Leaving:              r.stopping,
	}
	lease, longestDuration := r.sharedLease(now), own.LeaseDurationSeconds
	if before := r.leases[r.lease]; holderOf(before) == Holder(r.shards) {
		for _, other := range identities(before) {
			if other == identity || r.gone(other, now) {
				continue
			}
			value, _ := annotationOf(before, other)
			lease.Annotations[ReplicaPrefix+other] = value
			longestDuration = max(longestDuration, parseMember(value, r.leaseDuration).LeaseDurationSeconds)
		}
	}
	lease.Annotations[ReplicaPrefix+identity] = own.String()
	lease.Spec.LeaseDurationSeconds = new(int32(longestDuration))
	r.attempt = sighting{own.String(), now}
	return lease
}

// departure returns the shared Lease without this replica, and without a holder
// if it was the last.
func (r *replica) departure(now time.Time) *coordinationv1.Lease {
	lease := r.sharedLease(now)
	for _, other := range identities(r.leases[r.lease]) {
		if other != r.identity {
			value, _ := annotationOf(r.leases[r.lease], other)
			lease.Annotations[ReplicaPrefix+other] = value
		}
	}
	lease.Spec.LeaseDurationSeconds = r.leases[r.lease].Spec.LeaseDurationSeconds
	if len(identities(lease)) == 0 {
		lease.Spec.HolderIdentity = nil
	}
	return lease
}

// sharedLease returns the shared Lease, renewed, as held by the replicas and without any of them.
func (r *replica) sharedLease(now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: r.lease}}
	before := r.leases[r.lease]
	if before != nil {
		lease = before.DeepCopy()
	}
	lease.Annotations = withoutReplicas(lease)
	lease.Annotations[AnnotationShards] = strconv.Itoa(r.shards)
	if holder := Holder(r.shards); holderOf(before) != holder {
		lease.Spec.HolderIdentity = &holder
		lease.Spec.AcquireTime = new(metav1.NewMicroTime(now))
		lease.Spec.LeaseTransitions = new(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(now))
	return lease
}

// shardLease returns the Lease of a shard in other hands. It has no duration of
// its own: whoever holds it does so until it lets go or is no replica any more.
func (r *replica) shardLease(c change, now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: LeaseName(c.shard)}}
	if before := r.leases[lease.Name]; before != nil {
		lease = before.DeepCopy()
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[AnnotationShards] = strconv.Itoa(r.shards)
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime = nil, nil
	if c.holder != "" {
		lease.Spec.HolderIdentity = &c.holder
		lease.Spec.AcquireTime = new(metav1.NewMicroTime(now))
		lease.Spec.LeaseTransitions = new(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	}
	return lease
}

// answered takes in the answer to a request that was begun at an instant.
func (r *replica) answered(q request, lease *coordinationv1.Lease, err error, began, now time.Time) {
	name := q.lease()
	if name == r.lease && q.write != nil {
		r.beatAt = began.Add(r.retryPeriod)
	}
	delete(r.retryAt, name)
	switch {
	case err == nil:
		delete(r.stale, name)
		r.observe(lease, now)
	case q.write == nil && apierrors.IsNotFound(err):
		delete(r.stale, name)
		r.forget(name)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), q.write != nil && apierrors.IsNotFound(err):
		r.stale[name] = true // somebody was faster: read it and see
	default:
		r.stale[name] = true
		r.retryAt[name] = now.Add(r.retryPeriod)
	}
	if err != nil && name == r.lease && q.write != nil {
		r.beatAt = now // once it has been read
	}
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

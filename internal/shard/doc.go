// SPDX-License-Identifier: Apache-2.0

// Package shard divides objects among the replicas of a controller, for those
// who outgrow one.
//
// An object belongs to one of N shards by rendezvous hashing of its namespace and
// name ([Of]). Each shard is held by one of the live replicas, as its Lease says.
// All replicas watch everything; each acts for the objects of the shards it holds.
//
// # How replicas agree
//
// The replicas of one N share one Lease, the same one that a single leader would
// hold: so there is never both a leader and shards, nor two different N. Each
// replica has an annotation in it that it renews; that is its one heartbeat,
// however many shards it holds. Whoever does not renew for its lease duration is
// taken out by another replica, and has stopped acting before that: it acts only
// until its renew deadline, which is shorter. An identity that was taken out is
// never used again.
//
// The Lease of a shard names the identity that holds it. It is written when it
// changes hands, and only then: taken from nobody, or from an identity that is no
// longer among the replicas. Every write is conditional on the resource version,
// so of two who try one fails.
//
// # How shards move
//
// No replica holds more than its share, which is the number of shards divided by
// that of replicas, rounded up or down. A shard that nobody holds goes to a
// replica with room, by rendezvous hashing. When shares have become unequal one
// shard moves at a time: its holder takes no new work of it, waits for what is
// under way and lets the Lease go. So no more moves than must.
//
// # How it is built
//
// The type replica decides everything without doing anything: it is told of
// leases and instants, and returns the one next request. [Replica] makes the
// requests, tells the time and keeps the gate that reconciles pass.
//
// The package imports client-go and controller-runtime; nothing of this module.
package shard

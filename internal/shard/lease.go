// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/ptr"
)

const (
	// AnnotationShards is on every Lease of this package: the number of shards, in decimal.
	AnnotationShards = "5spot.finos.org/shards"
	// ReplicaPrefix is that of the annotations that replicas have in the Lease
	// that they share; the rest of the key is the replica's identity.
	ReplicaPrefix = "replica.5spot.finos.org/"
	// LeasePrefix is that of the name of a shard's Lease; its number follows.
	LeasePrefix = "5spot-shard-"
)

// LeaseName returns the name of a shard's Lease.
func LeaseName(shard int) string { return LeasePrefix + strconv.Itoa(shard) }

// Holder returns what the shared Lease names as its holder: all replicas of a
// number of shards together.
func Holder(shards int) string { return strconv.Itoa(shards) + "-shards" }

// member is what a replica says in its annotation.
type member struct {
	// RenewTime is when the replica began the request that wrote this, by its own clock.
	RenewTime metav1.MicroTime `json:"renewTime"`
	// LeaseDurationSeconds is how long after that it stays a member.
	LeaseDurationSeconds int `json:"leaseDurationSeconds"`
	// Leaving is true once the replica takes no more shards.
	Leaving bool `json:"leaving,omitempty"`
}

func (m member) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("a member can always be encoded: %v", err))
	}
	return string(text)
}

func (m member) duration() time.Duration { return time.Duration(m.LeaseDurationSeconds) * time.Second }

// parseMember reads an annotation. Of one that cannot be read it keeps the
// fallback, a lease duration: it is nobody's heartbeat, and goes in time.
func parseMember(text string, fallback time.Duration) member {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.LeaseDurationSeconds <= 0 {
		return member{LeaseDurationSeconds: int(fallback / time.Second), Leaving: true}
	}
	return m
}

// identities returns the replicas that a lease names, in order.
func identities(lease *coordinationv1.Lease) []string {
	var all []string
	for key := range lease.Annotations {
		if identity, ok := strings.CutPrefix(key, ReplicaPrefix); ok {
			all = append(all, identity)
		}
	}
	slices.Sort(all)
	return all
}

func annotationOf(lease *coordinationv1.Lease, identity string) (string, bool) {
	value, ok := lease.Annotations[ReplicaPrefix+identity]
	return value, ok
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease == nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// hasReplica reports whether an identity is among the replicas of a lease.
func hasReplica(lease *coordinationv1.Lease, identity string) bool {
	if lease == nil {
		return false
	}
	_, ok := annotationOf(lease, identity)
	return ok
}

// newer reports whether a was written after b; anything is newer than nil.
func newer(a, b *coordinationv1.Lease) bool {
	if b == nil {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order > 0
}

// withoutReplicas returns the annotations of a lease but those of replicas.
func withoutReplicas(lease *coordinationv1.Lease) map[string]string {
	kept := maps.Clone(lease.Annotations)
	if kept == nil {
		kept = map[string]string{}
	}
	maps.DeleteFunc(kept, func(key, _ string) bool { return strings.HasPrefix(key, ReplicaPrefix) })
	return kept
}

// longest and shortest measure the time between two instants by the wall clock
// and by the monotonic clock. They differ after the machine was suspended or its
// clock set: for one's own lease the longest counts, for another's the shortest.
func longest(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

func shortest(from, to time.Time) time.Duration {
	return min(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

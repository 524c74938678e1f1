// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"
)

// Of returns the shard, from 0 to shards-1, that an object belongs to: the one
// with the highest weight of all for its namespace and name (rendezvous hashing).
// With one more shard, objects move only to the new one, and about one in that
// many of them. It returns 0 where there are no shards.
func Of(key types.NamespacedName, shards int) int {
	hash := xxhash.Sum64String(key.String())
	best, highest := 0, uint64(0)
	for i := range shards {
		if w := weight(hash, uint64(i)); w > highest {
			best, highest = i, w
		}
	}
	return best
}

// weight mixes two hashes.
func weight(a, b uint64) uint64 {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:8], a)
	binary.LittleEndian.PutUint64(both[8:], b)
	return xxhash.Sum64(both[:])
}

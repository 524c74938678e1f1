// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// assignment is what a replica is to do about the shards.
type assignment struct {
	// take are the shards that nobody holds and that fall to the replica.
	take []int
	// give is the shard that the replica is to hand over; -1 if there is none.
	give int
}

// assign decides for the replica me. members are the replicas that take part;
// holders has, for each shard, who holds it, "" for nobody. A holder that is not
// a member is on its way out and keeps its shards until it lets them go.
//
// Every replica that sees the same comes to the same conclusion. Shares differ
// by one at most, and shards move only where they must: those of nobody go to
// whoever has room, and once all are held, one at a time goes from a replica
// that has more than its share.
func assign(me string, members, holders []string) assignment {
	none := assignment{give: -1}
	if len(members) == 0 {
		return none
	}
	shares := shareOut(members, holders)
	room := map[string]int{}
	for _, s := range shares {
		room[s.member] = s.quota - s.held
	}
	result, free := none, 0
	for shard, holder := range holders {
		if holder != "" {
			continue
		}
		free++
		to := heaviest(shard, members, func(m string) bool { return room[m] > 0 })
		room[to]--
		if to == me {
			result.take = append(result.take, shard)
		}
	}
	if free > 0 {
		return result
	}
	for _, s := range shares {
		if s.held > s.quota {
			if s.member == me {
				result.give = lightest(me, holders)
			}
			break
		}
	}
	return result
}

// share is how many shards a member holds and how many it should.
type share struct {
	member      string
	held, quota int
}

// shareOut divides the shards evenly. What cannot be divided goes to those who
// hold most already, and else by name: so nothing moves without need.
func shareOut(members, holders []string) []share {
	held := map[string]int{}
	for _, holder := range holders {
		held[holder]++
	}
	shares := make([]share, 0, len(members))
	for _, m := range members {
		shares = append(shares, share{member: m, held: held[m]})
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.held, a.held), strings.Compare(a.member, b.member))
	})
	each, rest := len(holders)/len(members), len(holders)%len(members)
	for i := range shares {
		shares[i].quota = each
		if i < rest {
			shares[i].quota++
		}
	}
	return shares
}

// heaviest returns the member with the highest weight for a shard among those
// that qualify; "" if none does.
func heaviest(shard int, members []string, qualifies func(string) bool) string {
	best, highest := "", uint64(0)
	for _, m := range members {
		if w := preference(m, shard); qualifies(m) && (w > highest || w == highest && m > best) {
			best, highest = m, w
		}
	}
	return best
}

// lightest returns the shard of a member for which its own weight is the lowest; -1 if it holds none.
func lightest(member string, holders []string) int {
	best, lowest := -1, uint64(0)
	for shard, holder := range holders {
		if w := preference(member, shard); holder == member && (best < 0 || w < lowest) {
			best, lowest = shard, w
		}
	}
	return best
}

func preference(member string, shard int) uint64 {
	return weight(xxhash.Sum64String(member), uint64(shard))
}

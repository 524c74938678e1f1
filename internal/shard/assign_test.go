// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatAReplicaDoesAboutTheShards(t *testing.T) {
	tests := map[string]struct {
		me               string
		members, holders []string
		want             assignment
	}{
		"alone it takes them all": {
			me: "a", members: []string{"a"}, holders: []string{"", "", ""},
			want: assignment{take: []int{0, 1, 2}, give: -1},
		},
		"with its share it leaves the rest": {
			me: "a", members: []string{"a", "b"}, holders: []string{"a", "a", "", ""},
			want: assignment{give: -1},
		},
		"the one with room takes what is left": {
			me: "b", members: []string{"a", "b"}, holders: []string{"a", "a", "", ""},
			want: assignment{take: []int{2, 3}, give: -1},
		},
		"of shards on their way out it takes none": {
			me: "a", members: []string{"a"}, holders: []string{"a", "leaving"},
			want: assignment{give: -1},
		},
		"with an even share it gives none": {
			me: "a", members: []string{"a", "b"}, holders: []string{"a", "b", "a"},
			want: assignment{give: -1},
		},
		"it gives none while one is free": {
			me: "a", members: []string{"a", "b"}, holders: []string{"a", "a", "a", ""},
			want: assignment{give: -1},
		},
		"who does not take part takes nothing": {
			me: "c", members: []string{"a"}, holders: []string{"", ""},
			want: assignment{give: -1},
		},
		"without any replica nothing is decided": {
			me: "a", holders: []string{"", ""},
			want: assignment{give: -1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := assign(test.me, test.members, test.holders)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(assignment{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// settle lets every replica do what it is told until nothing is left to do, and
// returns who holds what and how many times a held shard changed hands.
func settle(t *rapid.T, members, holders []string) (after []string, moved int) {
	after = slices.Clone(holders)
	for range 10 * len(holders) {
		taken := map[int]string{}
		gives := map[int]string{}
		for _, me := range members {
			plan := assign(me, members, after)
			for _, shard := range plan.take {
				if other, twice := taken[shard]; twice {
					t.Fatalf("shard %d falls to %s and to %s", shard, other, me)
				}
				taken[shard] = me
			}
			if plan.give >= 0 {
				gives[plan.give] = me
			}
		}
		if len(gives) > 1 {
			t.Fatalf("more than one shard is handed over at a time: %v", gives)
		}
		for shard, to := range taken {
			after[shard] = to
		}
		for shard := range gives {
			after[shard] = ""
			moved++
		}
		if len(taken)+len(gives) == 0 {
			return after, moved
		}
	}
	t.Fatalf("%v among %v never comes to rest: %v", holders, members, after)
	return nil, 0
}

func count(holders []string) map[string]int {
	counts := map[string]int{}
	for _, holder := range holders {
		counts[holder]++
	}
	return counts
}

func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("replica-%c", 'a'+i)
	}
	return all
}

func checkEven(t *rapid.T, members, holders []string) {
	counts := count(holders)
	for _, member := range members {
		if n := counts[member]; n < len(holders)/len(members) || n > (len(holders)+len(members)-1)/len(members) {
			t.Fatalf("%s holds %d of %d shards among %d replicas: %v", member, n, len(holders), len(members), holders)
		}
	}
	if counts[""] > 0 {
		t.Fatalf("nobody holds %d shards: %v", counts[""], holders)
	}
}

func TestSharesAreEvenAndNoMoreMovesThanMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.IntRange(MinShards, MaxShards).Draw(t, "shards")
		members := names(rapid.IntRange(1, 8).Draw(t, "replicas"))
		holders, _ := settle(t, members, make([]string, shards))
		checkEven(t, members, holders)

		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			before := slices.Clone(holders)
			if len(members) > 1 && rapid.Bool().Draw(t, "one goes") {
				at := rapid.IntRange(0, len(members)-1).Draw(t, "which")
				gone := members[at]
				members = slices.Delete(slices.Clone(members), at, at+1)
				for i, holder := range holders {
					if holder == gone {
						holders[i] = ""
					}
				}
				var moved int
				holders, moved = settle(t, members, holders)
				if moved > 0 {
					t.Fatalf("%d shards of survivors changed hands when %s went: %v, then %v", moved, gone, before, holders)
				}
			} else {
				joined := "replica-" + rapid.StringMatching(`[k-z]{6}`).Draw(t, "name")
				if slices.Contains(members, joined) {
					continue
				}
				members = append(slices.Clone(members), joined)
				var moved int
				holders, moved = settle(t, members, holders)
				if must := shards / len(members); moved != must {
					t.Fatalf("%d shards changed hands when %s came, must be %d: %v, then %v", moved, joined, must, before, holders)
				}
				for i := range holders {
					if holders[i] != before[i] && holders[i] != joined {
						t.Fatalf("shard %d went from %s to %s when %s came", i, before[i], holders[i], joined)
					}
				}
			}
			checkEven(t, members, holders)
		}
	})
}

// Whatever the shards are in, those who see the same agree, and it ends evenly.
func TestAnyStateComesToRestEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := names(rapid.IntRange(1, 6).Draw(t, "replicas"))
		holders := rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(members), "")), MinShards, MaxShards).Draw(t, "holders")
		after, _ := settle(t, members, holders)
		checkEven(t, members, after)
	})
}

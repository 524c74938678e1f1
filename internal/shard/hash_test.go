// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"fmt"
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/internal/shard"
)

// A key's shard must not change between versions of the program: replicas of
// two versions share the work during a rollout.
func TestTheShardOfAnObjectIsTheSameInEveryVersion(t *testing.T) {
	tests := map[types.NamespacedName][3]int{ // of 2, 4 and 16
		{Namespace: "trading", Name: "rack"}:      {1, 2, 4},
		{Namespace: "trading", Name: "rack-1"}:    {1, 1, 5},
		{Namespace: "trading", Name: "rack-2"}:    {0, 2, 10},
		{Namespace: "research", Name: "gpu"}:      {0, 0, 13},
		{Namespace: "a", Name: "b"}:               {0, 3, 3},
		{Namespace: "default", Name: "machine-7"}: {1, 1, 10},
	}
	for key, want := range tests {
		got := [3]int{shard.Of(key, 2), shard.Of(key, 4), shard.Of(key, 16)}
		if got != want {
			t.Errorf("%s is of shards %v, want %v", key, got, want)
		}
	}
}

func anyKey(t *rapid.T) types.NamespacedName {
	name := rapid.StringMatching(`[a-z0-9]{1,12}(-[a-z0-9]{1,5})?`)
	return types.NamespacedName{Namespace: name.Draw(t, "namespace"), Name: name.Draw(t, "name")}
}

func TestEveryObjectHasOneShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, shards := anyKey(t), rapid.IntRange(1, shard.MaxShards).Draw(t, "shards")
		of := shard.Of(key, shards)
		if of < 0 || of >= shards {
			t.Fatalf("%s is of shard %d of %d", key, of, shards)
		}
		if again := shard.Of(key, shards); again != of {
			t.Fatalf("%s is of shard %d and of shard %d", key, of, again)
		}
	})
}

func TestOneMoreShardTakesObjectsOnlyToItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, shards := anyKey(t), rapid.IntRange(1, shard.MaxShards-1).Draw(t, "shards")
		before, after := shard.Of(key, shards), shard.Of(key, shards+1)
		if after != before && after != shards {
			t.Fatalf("%s goes from shard %d to %d when shard %d is added", key, before, after, shards)
		}
	})
}

// Names that differ in one digit are what people give to racks.
func TestObjectsAreSpreadEvenly(t *testing.T) {
	const keys = 20_000
	for shards := 2; shards <= shard.MaxShards; shards++ {
		counts := make([]int, shards)
		for i := range keys {
			counts[shard.Of(types.NamespacedName{Namespace: "trading", Name: fmt.Sprintf("rack-%d", i)}, shards)]++
		}
		mean := float64(keys) / float64(shards)
		for i, n := range counts {
			// Six standard deviations of a fair throw.
			if off := math.Abs(float64(n) - mean); off > 6*math.Sqrt(mean) {
				t.Errorf("shard %d of %d has %d objects of %d", i, shards, n, keys)
			}
		}
	}
}

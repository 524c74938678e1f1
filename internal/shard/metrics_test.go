// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
)

// The alert on shards that nobody holds compares the two.
func TestAReplicaTellsHowManyShardsThereAreAndHowManyItHolds(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Date(2026, time.March, 2, 9, 29, 0, 0, time.UTC))
	r, err := New(Options{
		Shards: 4, Namespace: "5spot-system", Lease: "5spot-leader", Client: fake.NewClientset().CoordinationV1(),
		LeaseDuration: 8 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: time.Second,
		Clock: clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(held string) {
		t.Helper()
		want := `# HELP fivespot_shards Shards that the work is divided into.
# TYPE fivespot_shards gauge
fivespot_shards 4
# HELP fivespot_shards_held Shards that this replica holds and acts for.
# TYPE fivespot_shards_held gauge
fivespot_shards_held ` + held + "\n"
		if err := testutil.CollectAndCompare(r, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	}
	expect("0")
	r.state.identity, r.state.renewed = "rack_1", clock.Now()
	r.state.held[2], r.state.held[3] = &holding{shard: 2}, &holding{shard: 3}
	expect("2")
	clock.Step(5 * time.Second) // without a heartbeat
	expect("0")
}

// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/shard"
)

// owners returns which replica holds each shard; "" for none.
func owners(leases map[string]*coordinationv1.Lease, shards int) []string {
	all := make([]string, shards)
	for i := range all {
		all[i], _, _ = strings.Cut(holder(leases[shard.LeaseName(i)]), "_")
	}
	return all
}

// awaitOwners waits until each of the replicas holds an even share of the shards.
func awaitOwners(t *testing.T, shards int, replicas ...string) []string {
	t.Helper()
	leases := awaitLeases(t, func(leases map[string]*coordinationv1.Lease) error {
		held := map[string]int{}
		for _, owner := range owners(leases, shards) {
			held[owner]++
		}
		for _, replica := range replicas {
			if n := held[replica]; n < shards/len(replicas) || n > (shards+len(replicas)-1)/len(replicas) {
				return fmt.Errorf("the shards are held by %v, want by %v", owners(leases, shards), replicas)
			}
			delete(held, replica)
		}
		if len(held) > 0 {
			return fmt.Errorf("the shards are held by %v, want by %v only", owners(leases, shards), replicas)
		}
		return nil
	})
	return owners(leases, shards)
}

// checkNobodyActsForAForeignShard goes through what was asked of the API server:
// a shard's lease is written only when it changes hands, so whoever writes it and
// does not hold it takes it, and whoever holds it lets it go. Whoever writes
// anything of a ScheduledMachine must hold its shard then.
func (r *replicas) checkNobodyActsForAForeignShard(d *desk, events []devplane.AuditEvent, shards int) {
	r.Helper()
	holders := make([]string, shards)
	worked := 0
	for _, e := range events {
		who := r.replicaOf(e)
		if who == "" || !writes(e) || e.Resource == "events" {
			continue
		}
		if number, ok := strings.CutPrefix(e.Name, shard.LeasePrefix); ok && e.Resource == "leases" {
			var i int
			if _, err := fmt.Sscanf(number, "%d", &i); err != nil {
				r.Fatal(err)
			}
			if holders[i] == who {
				holders[i] = ""
			} else {
				holders[i] = who
			}
			continue
		}
		if e.Namespace != d.namespace {
			continue
		}
		worked++
		if i := shard.Of(types.NamespacedName{Namespace: e.Namespace, Name: e.Name}, shards); holders[i] != who {
			r.Errorf("%s wrote of shard %d, which %q held: %s %s at %s", who, i, holders[i], e.Verb, e.URI, e.RequestReceived)
		}
	}
	if worked == 0 {
		r.Error("nobody wrote anything")
	}
}

// moved returns which shards changed hands.
func moved(before, after []string) []int {
	var all []int
	for i := range before {
		if before[i] != after[i] {
			all = append(all, i)
		}
	}
	return all
}

func TestThreeShardsWithOneReplicaKilledAndAnotherJoining(t *testing.T) {
	const shards, machines = 3, 12
	d := newDesk(t, machines)
	r := newReplicas(t, "--shards=3",
		"--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s", "--leader-election-retry-period=250ms")
	for _, name := range []string{"east", "west", "south"} {
		r.start(name)
	}
	three := awaitOwners(t, shards, "east", "west", "south")
	d.flip(true)
	d.settle(true)

	r.kill("west")
	d.flip(false)
	two := awaitOwners(t, shards, "east", "south")
	if got, want := moved(three, two), []int{slices.Index(three, "west")}; !slices.Equal(got, want) {
		t.Errorf("shards %v changed hands when west was killed, want %v: %v, then %v", got, want, three, two)
	}
	d.settle(false)

	r.start("north")
	again := awaitOwners(t, shards, "east", "south", "north")
	if got := moved(two, again); len(got) != 1 {
		t.Errorf("shards %v changed hands when north came, want one: %v, then %v", got, two, again)
	}
	d.flip(true)
	d.settle(true)

	log := d.requests()
	byTime(log)
	r.checkNobodyActsForAForeignShard(d, log, shards)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sm := range d.machines {
		if d.created[sm.Name] != 2 || d.deleted[sm.Name] != 1 {
			t.Errorf("%d Machines %s were created and %d deleted, want 2 and 1", d.created[sm.Name], sm.Name, d.deleted[sm.Name])
		}
	}
}

// TestReplicasThatStopHandTheirShardsOver stops replicas in good order. Leases
// last an hour, so that only their release can let others go on.
func TestReplicasThatStopHandTheirShardsOver(t *testing.T) {
	const shards, machines = 4, 8
	d := newDesk(t, machines)
	r := newReplicas(t, "--leader-election-lease-duration=1h", "--leader-election-renew-deadline=30m", "--leader-election-retry-period=250ms")
	r.start("east", "--shards=4")
	awaitOwners(t, shards, "east")
	r.start("west", "--shards=4")
	before := awaitOwners(t, shards, "east", "west")
	d.flip(true)
	r.stop("east")
	after := awaitOwners(t, shards, "west")
	for _, i := range moved(before, after) {
		if before[i] != "east" {
			t.Errorf("shard %d was taken from %s", i, before[i])
		}
	}
	d.settle(true)

	// One with another number of shards does nothing until the last of these is gone.
	r.start("other", "--shards=2")
	awaitLog(t, r.log("other"), "--shards=4, and this one has --shards=2")
	d.flip(false)
	d.settle(false)
	r.stop("west")
	awaitOwners(t, 2, "other")
	d.flip(true)
	d.settle(true)

	log := d.requests()
	byTime(log)
	var fours, twos []devplane.AuditEvent
	for _, e := range log {
		if r.replicaOf(e) == "other" {
			twos = append(twos, e)
		} else {
			fours = append(fours, e)
		}
	}
	r.checkNobodyActsForAForeignShard(d, fours, shards)
	r.checkNobodyActsForAForeignShard(d, twos, 2)
	if last, first := lastWrite(d, fours), firstWrite(d, twos); !last.RequestReceived.Before(first.RequestReceived) {
		t.Errorf("%s wrote at %s, and %s at %s: two numbers of shards at a time", first.UserAgent, first.RequestReceived, last.UserAgent, last.RequestReceived)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sm := range d.machines {
		if d.created[sm.Name] != 2 || d.deleted[sm.Name] != 1 {
			t.Errorf("%d Machines %s were created and %d deleted, want 2 and 1", d.created[sm.Name], sm.Name, d.deleted[sm.Name])
		}
	}
}

func firstWrite(d *desk, events []devplane.AuditEvent) devplane.AuditEvent {
	for _, e := range events {
		if writes(e) && e.Namespace == d.namespace && e.Resource != "events" && e.UserAgent != "" && strings.HasPrefix(e.User, "system:serviceaccount:5spot-system:") {
			return e
		}
	}
	d.Fatal("nobody wrote anything")
	return devplane.AuditEvent{}
}

func lastWrite(d *desk, events []devplane.AuditEvent) devplane.AuditEvent {
	backwards := slices.Clone(events)
	slices.Reverse(backwards)
	return firstWrite(d, backwards)
}

// awaitLog waits until a log has a text.
func awaitLog(t *testing.T, path, text string) {
	t.Helper()
	awaitFile(t, path, func() error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(content), text) {
			return fmt.Errorf("%s does not say %q", path, text)
		}
		return nil
	})
}

// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
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

// tenure is the time for which a replica held a shard: since it began to take it.
type tenure struct {
	replica string
	since   time.Time
}

// tenures are those of each shard, in their order. They are the leases' own
// account of who held what.
type tenures struct {
	*testing.T
	mu      sync.Mutex
	of      map[string][]tenure // by the lease's name
	changed chan struct{}
}

// followTenures writes down who holds the shards from now on.
func followTenures(t *testing.T) *tenures {
	t.Helper()
	all := &tenures{T: t, of: map[string][]tenure{}, changed: make(chan struct{}, 1)}
	changes, err := devplanetest.Client(t).Watch(t.Context(), &coordinationv1.LeaseList{}, client.InNamespace(systemNamespace))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(changes.Stop)
	go func() {
		for event := range changes.ResultChan() {
			if lease, ok := event.Object.(*coordinationv1.Lease); ok {
				all.note(lease)
			}
		}
	}()
	return all
}

func (all *tenures) note(lease *coordinationv1.Lease) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if replica := replicaIn(lease); replica != "" && strings.HasPrefix(lease.Name, shard.LeasePrefix) {
		since := lease.Spec.AcquireTime.Time
		if before := all.of[lease.Name]; len(before) == 0 || before[len(before)-1] != (tenure{replica, since}) {
			all.of[lease.Name] = append(before, tenure{replica, since})
		}
	}
	select {
	case all.changed <- struct{}{}:
	default:
	}
}

// replicaIn returns the name of the replica that holds a shard; "" for none.
func replicaIn(lease *coordinationv1.Lease) string {
	name, _, _ := strings.Cut(holder(lease), "_")
	return name
}

// await returns once all that the leases say now has been written down.
func (all *tenures) await() {
	all.Helper()
	ctx := devplanetest.Context(all.T)
	for name, lease := range awaitLeases(all.T, anyLeases) {
		replica := replicaIn(lease)
		for strings.HasPrefix(name, shard.LeasePrefix) && replica != "" {
			all.mu.Lock()
			known := all.of[name]
			all.mu.Unlock()
			if len(known) > 0 && known[len(known)-1].replica == replica {
				break
			}
			select {
			case <-all.changed:
			case <-ctx.Done():
				all.Fatalf("that %s holds %s is not known", replica, name)
			}
		}
	}
}

// at returns who had begun to hold a shard last at an instant.
func (all *tenures) at(shardOf int, instant time.Time) string {
	who := ""
	for _, held := range all.of[shard.LeaseName(shardOf)] {
		if !held.since.After(instant) {
			who = held.replica
		}
	}
	return who
}

// checkNobodyActsForAForeignShard checks that whoever wrote anything of a
// ScheduledMachine held its shard then, and nobody else had begun to take it.
func (all *tenures) checkNobodyActsForAForeignShard(r *replicas, d *desk, events []devplane.AuditEvent, shards int) {
	all.Helper()
	all.await()
	worked := 0
	for _, e := range events {
		who := r.replicaOf(e)
		if who == "" || !writes(e) || e.Resource == "events" || e.Namespace != d.namespace {
			continue
		}
		worked++
		i := shard.Of(types.NamespacedName{Namespace: e.Namespace, Name: e.Name}, shards)
		if owner := all.at(i, e.RequestReceived); owner != who {
			all.Errorf("%s wrote of shard %d, which %q held: %s %s at %s", who, i, owner, e.Verb, e.URI, e.RequestReceived)
		}
	}
	if worked == 0 {
		all.Error("nobody wrote anything")
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
		"--leader-election-lease-duration=5s", "--leader-election-renew-deadline=4s", "--leader-election-retry-period=250ms")
	held := followTenures(t)
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
	held.checkNobodyActsForAForeignShard(r, d, log, shards)
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
	held := followTenures(t)
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
	held.checkNobodyActsForAForeignShard(r, d, fours, shards)
	held.checkNobodyActsForAForeignShard(r, d, twos, 2)
	if last, first := lastWrite(d, fours), firstWrite(d, twos); !last.RequestReceived.Before(first.RequestReceived) {
		t.Errorf("%s wrote at %s, and %s at %s: two numbers of shards at a time", first.UserAgent, first.RequestReceived, last.UserAgent, last.RequestReceived)
	}
	// Nor does one that would lead all.
	r.start("plain", "--leader-elect")
	awaitLog(t, r.log("plain"), "Attempting to acquire leader lease")
	r.stop("other")
	awaitLeader(t, shard.Holder(2))
	d.flip(false)
	d.settle(false)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sm := range d.machines {
		if d.created[sm.Name] != 2 || d.deleted[sm.Name] != 2 {
			t.Errorf("%d Machines %s were created and %d deleted, want 2 and 2", d.created[sm.Name], sm.Name, d.deleted[sm.Name])
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

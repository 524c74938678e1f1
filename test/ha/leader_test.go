// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// quick has a standby take over within four or five seconds, and a leader outlast a
// machine that stands still for three.
var quick = []string{
	"--leader-election-lease-duration=4s", "--leader-election-renew-deadline=3500ms", "--leader-election-retry-period=200ms",
}

// writes reports whether an event is the end of a request that changed something, or may have.
func writes(e devplane.AuditEvent) bool {
	if e.Stage == devplane.StageResponseStarted || e.Code >= 300 && e.Code != http.StatusGatewayTimeout {
		return false
	}
	return slices.Contains([]string{"create", "update", "patch", "delete"}, e.Verb)
}

func isLease(e devplane.AuditEvent, name string) bool {
	return e.Resource == "leases" && e.Name == name
}

// byTime sorts events by when the API server had received them.
func byTime(events []devplane.AuditEvent) {
	slices.SortStableFunc(events, func(a, b devplane.AuditEvent) int { return a.RequestReceived.Compare(b.RequestReceived) })
}

// leaders returns the replicas in the order in which they led, by the lease.
func (r *replicas) leaders(events []devplane.AuditEvent) []string {
	var all []string
	for _, e := range events {
		if who := r.replicaOf(e); who != "" && writes(e) && isLease(e, "5spot-leader") && (len(all) == 0 || all[len(all)-1] != who) {
			all = append(all, who)
		}
	}
	return all
}

// checkOnlyTheLeaderWrites checks that whoever wrote held the lease.
func (r *replicas) checkOnlyTheLeaderWrites(events []devplane.AuditEvent) {
	r.Helper()
	leader := ""
	for _, e := range events {
		who := r.replicaOf(e)
		switch {
		case who == "" || !writes(e) || e.Resource == "events":
		case isLease(e, "5spot-leader"):
			leader = who
		case who != leader:
			r.Errorf("%s wrote while %s led: %s %s at %s", who, leader, e.Verb, e.URI, e.RequestReceived)
		}
	}
}

// TestALeaderKilledTwentyTimesDuringFlips kills the leader after a random number
// of its writes since the bell, twenty times, and checks that each bell has made
// or taken down each Machine once.
func TestALeaderKilledTwentyTimesDuringFlips(t *testing.T) {
	const kills, machines, seed = 20, 3, 11
	random := rand.New(rand.NewPCG(seed, seed))
	d := newDesk(t, machines)
	r := newReplicas(t, append(quick, "--leader-elect")...)
	r.start("replica-00")
	holder := awaitLeader(t, "")
	leader := "replica-00"
	var log []devplane.AuditEvent
	bells := 0
	for i := range kills {
		standby := fmt.Sprintf("replica-%02d", i+1)
		r.start(standby)
		d.settle(bells%2 == 1)
		bells++
		d.flip(bells%2 == 1)
		log = append(log, awaitWrites(d, r, leader, 1+random.IntN(5*machines))...)
		r.kill(leader)
		holder, leader = awaitLeader(t, holder), standby
	}
	d.settle(bells%2 == 1)
	log = append(log, d.requests()...)
	byTime(log)

	r.checkOnlyTheLeaderWrites(log)
	if led := r.leaders(log); len(led) != kills+1 {
		t.Errorf("the leaders were %v, want %d of them in turn", led, kills+1)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, sm := range d.machines {
		if created, deleted := d.created[sm.Name], d.deleted[sm.Name]; created != bells/2 || deleted != bells/2 {
			t.Errorf("after %d bells, %d Machines %s were created and %d deleted, want %d and %d", bells, created, sm.Name, deleted, bells/2, bells/2)
		}
	}
}

// awaitWrites returns after a replica has made a number of writes, or when all
// machines are as they should be.
func awaitWrites(d *desk, r *replicas, leader string, n int) []devplane.AuditEvent {
	d.Helper()
	written := 0
	events, err := d.audit.Await(devplanetest.Context(d.T), func(e devplane.AuditEvent) bool {
		if r.replicaOf(e) == leader && writes(e) && e.Resource != "leases" && e.Resource != "events" && e.Namespace == d.namespace {
			written++
		}
		return written >= n
	})
	if err != nil {
		d.Fatal(err)
	}
	return events
}

// TestAStandbyTakesOverWithinFifteenSeconds kills the leader of a pair with the
// times that it has by default. The API server's own clock tells how long it
// took from the last sign of life of the leader to the first Machine of the other.
func TestAStandbyTakesOverWithinFifteenSeconds(t *testing.T) {
	d := newDesk(t, 1)
	r := newReplicas(t, "--leader-elect")
	r.start("first")
	before := awaitLeader(t, "")
	r.start("second")
	d.settle(false)
	r.kill("first")
	d.flip(true)
	awaitLeader(t, before)
	d.settle(true)

	var lastSign, made time.Time
	for _, e := range d.requests() {
		switch who := r.replicaOf(e); {
		case who == "first" && e.StageTimestamp.After(lastSign):
			lastSign = e.StageTimestamp
		case who == "second" && e.Verb == "create" && e.Resource == "machines" && e.Code == http.StatusCreated:
			made = e.StageTimestamp
		}
	}
	if made.IsZero() || lastSign.IsZero() {
		t.Fatalf("the last sign of the first replica is of %s, the Machine of the second of %s", lastSign, made)
	}
	if took := made.Sub(lastSign); took > 15*time.Second {
		t.Errorf("the second replica made the machine %s after the last sign of the first", took)
	}
}

// TestACleanStopFinishesWhatIsUnderWayAndLetsTheLeaseGo stops the leader amid a
// bell. The lease lasts an hour, so that only its release can let the other lead.
func TestACleanStopFinishesWhatIsUnderWayAndLetsTheLeaseGo(t *testing.T) {
	const machines = 30
	d := newDesk(t, machines)
	r := newReplicas(t, "--leader-elect", "--concurrency=2",
		"--leader-election-lease-duration=1h", "--leader-election-renew-deadline=30m", "--leader-election-retry-period=200ms")
	r.start("first")
	awaitLeader(t, "")
	r.start("second")
	d.settle(false)
	d.flip(true)
	log, err := d.audit.Await(devplanetest.Context(t), func(e devplane.AuditEvent) bool {
		return r.replicaOf(e) == "first" && e.Verb == "create" && e.Resource == "kubeadmconfigs"
	})
	if err != nil {
		t.Fatal(err)
	}
	r.stop("first")
	d.settle(true)
	log = append(log, d.requests()...)
	byTime(log)

	r.checkOnlyTheLeaderWrites(log)
	made := map[string]int{}
	ended := time.Time{}
	for _, e := range log {
		if r.replicaOf(e) != "first" || !writes(e) {
			continue
		}
		if e.Verb == "create" && e.Code == http.StatusCreated && e.Namespace == d.namespace && e.Resource != "events" {
			made[e.Name]++
		}
		if isLease(e, "5spot-leader") {
			ended = e.RequestReceived
		} else if e.Resource != "events" && !ended.IsZero() && e.RequestReceived.After(ended) {
			ended = time.Time{}
		}
	}
	if ended.IsZero() {
		t.Error("the last that the first replica did was not to let the lease go")
	}
	for name, n := range made {
		if n != 3 {
			t.Errorf("the first replica began %s and made %d of its three objects", name, n)
		}
	}
	if len(made) == 0 {
		t.Error("the first replica made no machine, so that nothing was under way")
	}
}

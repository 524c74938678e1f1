// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rest lets everything that is to be done now be done, without any time passing.
func (w *world) rest() {
	for busy := true; busy; {
		busy = false
		for _, p := range w.replicas {
			w.ask(p)
			busy = busy || p.asked != nothing || p.seen < len(w.log)
			w.arrive(p)
			w.answer(p, false)
			w.watch(p, len(w.log))
			w.tell(p)
		}
		w.check()
	}
}

func TestOneReplicaHoldsAllShards(t *testing.T) {
	w := newWorld(t)
	p := w.start(4)
	w.rest()
	if len(p.state.held) != 4 {
		t.Errorf("it holds %d of 4 shards", len(p.state.held))
	}
}

func TestHandingOverWaitsForWhatIsUnderWay(t *testing.T) {
	w := newWorld(t)
	old := w.start(2)
	w.rest()
	w.begin(old, 0)
	w.begin(old, 1)
	joined := w.start(2)
	w.rest()
	if len(old.state.held) != 2 || len(joined.state.held) != 0 {
		t.Fatalf("with work under way, %d and %d shards are held, want 2 and 0", len(old.state.held), len(joined.state.held))
	}
	for shard, h := range old.state.held {
		if again := old.state.begin(shard, w.clock(old)); (again == nil) != h.draining {
			t.Errorf("shard %d, draining: %t, takes new work: %t", shard, h.draining, again != nil)
		} else if again != nil {
			old.state.end(again)
		}
	}
	w.end(old)
	w.end(old)
	w.rest()
	if len(old.state.held) != 1 || len(joined.state.held) != 1 {
		t.Errorf("with the work done, %d and %d shards are held, want 1 and 1", len(old.state.held), len(joined.state.held))
	}
}

func TestStoppingWaitsForWhatIsUnderWayAndThenLetsEverythingGo(t *testing.T) {
	w := newWorld(t)
	old, other := w.start(2), w.start(2)
	w.rest()
	for shard := range old.state.held {
		w.begin(old, shard)
	}
	old.state.stop()
	w.rest()
	if old.state.finished() || len(other.state.held) != 1 {
		t.Fatalf("with work under way, it has stopped: %t; the other holds %d", old.state.finished(), len(other.state.held))
	}
	w.end(old)
	w.rest()
	if !old.state.finished() || len(other.state.held) != 2 {
		t.Errorf("with the work done, it has stopped: %t; the other holds %d of 2", old.state.finished(), len(other.state.held))
	}
	other.state.stop()
	w.rest()
	if holder := holderOf(w.leases[sharedName]); holder != "" {
		t.Errorf("with all replicas gone the lease is held by %s", holder)
	}
}

func TestAReplicaThatCannotRenewStopsBeforeAnotherTakesOver(t *testing.T) {
	w := newWorld(t)
	cut, other := w.start(2), w.start(2)
	w.rest()
	shard := -1
	for held := range cut.state.held {
		shard = held
	}
	w.begin(cut, shard)
	work := cut.work[0]
	w.replicas = []*process{other} // no request of the other is served any more

	for passed := time.Duration(0); passed < modelRenewDeadline; passed += modelRetryPeriod {
		if cut.state.begin(shard, w.clock(cut)) == nil {
			t.Fatalf("it stops %s after it renewed, before its deadline", passed)
		}
		w.advance(modelRetryPeriod)
		w.rest()
	}
	if cut.state.begin(shard, w.clock(cut)) != nil {
		t.Error("it takes work at its deadline")
	}
	if work.context.Err() == nil {
		t.Error("work under way goes on after the deadline")
	}
	if len(other.state.held) != 1 {
		t.Error("the other took over before the lease had ended")
	}
	w.advance(modelLeaseDuration - modelRenewDeadline)
	w.rest()
	if len(other.state.held) != 2 {
		t.Errorf("the other holds %d of 2 shards after the lease has ended", len(other.state.held))
	}
}

// What takes effect at the server at any time after it was sent counts from then.
func TestAHeartbeatCountsFromWhenItWasBegun(t *testing.T) {
	w := newWorld(t)
	p := w.start(2)
	w.rest()
	w.advance(modelRetryPeriod)
	w.ask(p)
	began := w.clock(p)
	w.arrive(p)
	w.advance(3 * time.Second)
	w.answer(p, false)
	if !p.state.renewed.Equal(began) {
		t.Errorf("it counts from %s, and was begun at %s", p.state.renewed, began)
	}
}

func TestAHeartbeatOfWhichNoAnswerCameIsFoundByReading(t *testing.T) {
	w := newWorld(t)
	p := w.start(2)
	w.rest()
	w.advance(modelRetryPeriod)
	w.ask(p)
	began := w.clock(p)
	w.arrive(p)
	w.answer(p, true)
	w.advance(modelRetryPeriod)
	w.ask(p)
	if p.asked.name != sharedName {
		t.Fatalf("it asks for %+v, want to read %s", p.asked, sharedName)
	}
	w.arrive(p)
	w.answer(p, false)
	if !p.state.renewed.Equal(began) {
		t.Errorf("it counts from %s, and was begun at %s", p.state.renewed, began)
	}
}

func TestWhatKeepsAReplicaOutIsSaid(t *testing.T) {
	leader := "pod-a_1234"
	tests := map[string]struct {
		others func(w *world)
		want   string
	}{
		"another number of shards": {
			others: func(w *world) { w.start(3); w.rest() },
			want:   "the lease leader is held by replicas with --shards=3, and this one has --shards=4",
		},
		"a leader without shards": {
			others: func(w *world) {
				_, err := w.write(&coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: sharedName},
					Spec:       coordinationv1.LeaseSpec{HolderIdentity: &leader, LeaseDurationSeconds: new(int32(8))},
				})
				if err != nil {
					t.Fatal(err)
				}
			},
			want: "the lease leader is held by pod-a_1234, which works without shards, and this one has --shards=4",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.others(w)
			p := w.start(4)
			w.rest()
			if len(p.state.held) > 0 || !strings.Contains(p.state.waiting, test.want) {
				t.Errorf("it holds %d shards and says %q, want %q", len(p.state.held), p.state.waiting, test.want)
			}
			w.replicas = []*process{p}
			w.advance(modelLeaseDuration)
			w.rest()
			if len(p.state.held) != 4 || p.state.waiting != "" {
				t.Errorf("after the lease has ended it holds %d of 4 shards and says %q", len(p.state.held), p.state.waiting)
			}
		})
	}
}

func TestANameIsMadeFitForAnAnnotation(t *testing.T) {
	tests := map[string]string{
		"5spot-controller-6d5f-x2": "5spot-controller-6d5f-x2",
		"Näme of_a host.local":     "Nmeofahost.local",
		"--":                       "replica",
		"":                         "replica",
		strings.Repeat("a", 70):    strings.Repeat("a", 50),
	}
	for name, want := range tests {
		if got := identityPrefix(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// remove deletes a lease behind everybody's back.
func (w *world) remove(name string) {
	delete(w.leases, name)
	for _, p := range w.replicas {
		p.seen = len(w.log)
		p.state.forget(name)
	}
}

func TestAReplicaWhoseSharedLeaseIsDeletedStopsAndBeginsAnew(t *testing.T) {
	w := newWorld(t)
	p, other := w.start(4), w.start(4)
	w.rest()
	for shard := range p.state.held {
		w.begin(p, shard)
	}
	w.remove(sharedName)
	if len(p.state.held) > 0 || p.work[0].context.Err() == nil {
		t.Errorf("it holds %d shards, and its work goes on: %t", len(p.state.held), p.work[0].context.Err() == nil)
	}
	w.rest()
	if p.state.identity != "" {
		t.Error("it has begun anew while earlier work is under way")
	}
	for range 2 {
		w.end(p)
	}
	w.rest()
	if len(p.state.held) != 2 || len(other.state.held) != 2 {
		t.Errorf("they hold %d and %d of 4 shards, want 2 and 2", len(p.state.held), len(other.state.held))
	}
}

func TestAShardWhoseLeaseIsDeletedIsTakenAnew(t *testing.T) {
	w := newWorld(t)
	p := w.start(2)
	w.rest()
	w.begin(p, 1)
	w.remove(LeaseName(1))
	if p.state.held[1] != nil || p.work[0].context.Err() == nil {
		t.Error("work of the shard goes on")
	}
	w.end(p)
	w.rest()
	if p.state.held[1] == nil {
		t.Error("nobody holds the shard")
	}
}

func TestAnAnnotationThatCannotBeReadGoesInTime(t *testing.T) {
	w := newWorld(t)
	p := w.start(2)
	w.rest()
	lease := w.leases[sharedName].DeepCopy()
	lease.Annotations[ReplicaPrefix+"strange"] = "not JSON"
	if _, err := w.write(lease); err != nil {
		t.Fatal(err)
	}
	w.rest()
	for passed := time.Duration(0); passed <= modelLeaseDuration; passed += modelRetryPeriod {
		w.advance(modelRetryPeriod)
		w.rest()
	}
	if hasReplica(w.leases[sharedName], "strange") || len(p.state.held) != 2 {
		t.Errorf("the annotations are %v, and %d of 2 shards are held", w.leases[sharedName].Annotations, len(p.state.held))
	}
}

// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/clock"
)

// Limits of the number of shards. More than MaxShards would not help: every
// replica watches everything.
const (
	MinShards = 2
	MaxShards = 16
)

// Options of a [Replica]. All are required but where the comment says otherwise.
type Options struct {
	// Shards is the number of shards, from MinShards to MaxShards. All replicas
	// must have the same; one with another does nothing while there are any.
	Shards int
	// Namespace and Lease name the Lease that the replicas share.
	Namespace, Lease string
	// Name begins the identity of the replica, for people to recognize it by: its
	// host name. Characters that an annotation cannot have are left out.
	Name string
	// LeaseDuration is for how long without a heartbeat a replica is counted in;
	// whole seconds. RenewDeadline is for how long it goes on acting; shorter.
	// RetryPeriod is between two heartbeats; shorter still.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Client reads and writes Leases.
	Client coordinationv1client.LeasesGetter
	// Clock tells the time. Nil: the wall clock.
	Clock clock.Clock
	// Log gets what a person may want to know. Zero: nowhere.
	Log logr.Logger
}

func (o *Options) validate() error {
	switch {
	case o.Shards < MinShards || o.Shards > MaxShards:
		return fmt.Errorf("the number of shards is %d: it must be from %d to %d", o.Shards, MinShards, MaxShards)
	case o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0:
		return fmt.Errorf("the lease duration is %s: it must be a number of whole seconds", o.LeaseDuration)
	case o.RenewDeadline >= o.LeaseDuration:
		return fmt.Errorf("the renew deadline (%s) must be shorter than the lease duration (%s): a replica stops before another takes over", o.RenewDeadline, o.LeaseDuration)
	case o.RetryPeriod <= 0 || o.RetryPeriod >= o.RenewDeadline:
		return fmt.Errorf("the retry period (%s) must be shorter than the renew deadline (%s)", o.RetryPeriod, o.RenewDeadline)
	case o.Namespace == "" || o.Lease == "" || o.Client == nil:
		return errors.New("a namespace, a lease and a client are needed")
	}
	return nil
}

// Replica is one of the replicas that share the work. It is a runnable for a
// manager, and runs on every replica. Its other methods may be called from any
// goroutine.
type Replica struct {
	options Options
	clock   clock.Clock
	log     logr.Logger
	// changed tells the loop to decide again, renewed the fence that there is more time.
	changed, renewed chan struct{}

	mu    sync.Mutex
	state *replica
	tell  func(ctx context.Context, shard int, ready func()) error // nil until somebody listens
	lost  func(shard int)
}

// New returns a replica that holds nothing until it is started.
func New(o Options) (*Replica, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	name := identityPrefix(o.Name)
	return &Replica{
		options: o, clock: o.Clock, log: o.Log,
		changed: make(chan struct{}, 1), renewed: make(chan struct{}, 1),
		state: newReplica(settings{
			shards: o.Shards, namespace: o.Namespace, lease: o.Lease,
			leaseDuration: o.LeaseDuration, renewDeadline: o.RenewDeadline, retryPeriod: o.RetryPeriod,
			newIdentity: func() string { return name + "_" + string(uuid.NewUUID())[:8] },
		}),
	}, nil
}

// identityPrefix makes a name fit to begin an annotation's name, which has at
// most 63 characters.
func identityPrefix(name string) string {
	fits := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return -1
	}, name)
	if fits = strings.TrimLeft(fits, "-."); fits == "" {
		fits = "replica"
	}
	return fits[:min(len(fits), 50)]
}

// NeedLeaderElection tells the manager that every replica runs this.
func (r *Replica) NeedLeaderElection() bool { return false }

// Start takes part until ctx ends. Then it takes no more work, waits for what is
// under way, lets go of what it holds and returns.
func (r *Replica) Start(ctx context.Context) error {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer end()
	r.watch(running, &helpers)
	helpers.Go(func() { r.fence(running) })
	for {
		r.announce(running)
		request, at, finished := r.decide(ctx.Err() != nil)
		switch {
		case finished:
			return nil
		case request != nothing:
			r.ask(running, request)
		default:
			r.await(ctx, at)
		}
	}
}

// nothing is no request.
var nothing request

// decide returns the next request, or when to decide again.
func (r *Replica) decide(stop bool) (request, time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop && !r.state.stopping {
		r.log.Info("Letting go of the shards", "held", len(r.state.held))
		r.state.stop()
	}
	before := r.state.waiting
	request, at := r.state.next(r.clock.Now())
	if waiting := r.state.waiting; waiting != before && waiting != "" {
		r.log.Info("Waiting: " + waiting)
	}
	return request, at, r.state.finished()
}

// await returns at an instant, or earlier when something has happened.
func (r *Replica) await(ctx context.Context, at time.Time) {
	timer := r.clock.NewTimer(at.Sub(r.clock.Now()))
	defer timer.Stop()
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil // that is known already
	}
	select {
	case <-done:
	case <-timer.C():
	case <-r.changed:
	}
}

// ask makes a request and takes in the answer.
func (r *Replica) ask(ctx context.Context, q request) {
	ctx, cancel := context.WithTimeout(ctx, max(r.options.RenewDeadline/2, time.Second))
	defer cancel()
	leases := r.options.Client.Leases(r.options.Namespace)
	began := r.clock.Now()
	var lease *coordinationv1.Lease
	var err error
	switch {
	case q.write == nil:
		lease, err = leases.Get(ctx, q.name, metav1.GetOptions{})
	case q.write.ResourceVersion == "":
		lease, err = leases.Create(ctx, q.write, metav1.CreateOptions{})
	default:
		lease, err = leases.Update(ctx, q.write, metav1.UpdateOptions{})
	}
	r.mu.Lock()
	r.state.answered(q, lease, err, began, r.clock.Now())
	if at := r.state.retryAt[q.lease()]; err != nil && !at.IsZero() {
		r.log.Error(err, "Cannot read or write a lease", "lease", q.lease())
	}
	r.mu.Unlock()
	poke(r.renewed)
}

// fence ends all work when there was no heartbeat for too long, whatever the
// loop is busy with.
func (r *Replica) fence(ctx context.Context) {
	for ctx.Err() == nil {
		r.mu.Lock()
		now := r.clock.Now()
		wait := r.options.RenewDeadline
		if r.state.identity != "" {
			if wait -= longest(r.state.renewed, now); wait <= 0 {
				r.log.Info("Stopping all work: the lease could not be renewed in time", "lease", r.options.Lease)
				r.state.lose()
				poke(r.changed)
				wait = r.options.RenewDeadline
			}
		}
		timer := r.clock.NewTimer(wait)
		r.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-timer.C():
		case <-r.renewed:
		}
		timer.Stop()
	}
}

// announce tells those who listen of shards that were lost and gained.
func (r *Replica) announce(ctx context.Context) {
	r.mu.Lock()
	tell, tellLost := r.tell, r.lost
	var lost []int
	var gained []*holding
	if tell != nil {
		lost, r.state.lost = r.state.lost, nil
		gained, r.state.gained = r.state.gained, nil
	}
	r.mu.Unlock()
	for _, shard := range lost {
		r.log.Info("Shard is not held any more", "shard", shard)
		tellLost(shard)
	}
	for _, h := range gained {
		if h.context.Err() != nil {
			continue // lost again
		}
		r.log.Info("Shard is held", "shard", h.shard)
		if err := tell(ctx, h.shard, func() { r.open(h) }); err != nil {
			r.log.Error(err, "Cannot begin the work of a shard", "shard", h.shard)
			r.mu.Lock()
			r.state.gained = append(r.state.gained, h)
			r.mu.Unlock()
		}
	}
}

func (r *Replica) open(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.ready = true
}

// Held returns how many shards this replica holds and may act for at this instant.
func (r *Replica) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.state.acting(r.clock.Now()) {
		return 0
	}
	return len(r.state.held)
}

// poke sends to a channel that has room for one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

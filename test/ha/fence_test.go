// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/shard"
)

const (
	fenceLease    = 8 * time.Second
	fenceDeadline = 5 * time.Second
)

// cuttable is a replica in this process, whose connection can be cut and whose
// clock stands still unless it is moved.
type cuttable struct {
	*shard.Replica

	clock *clocktesting.FakeClock
	cut   atomic.Bool
	// stuck has a value once a request hangs; all that hang fail when mended is closed.
	stuck, mended chan struct{}
	queue         workqueue.TypedRateLimitingInterface[reconcile.Request]
	told          chan int // shards that were gained
}

func (c *cuttable) roundTrip(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	if !c.cut.Load() {
		return next.RoundTrip(request)
	}
	if request.Method == http.MethodPut {
		select {
		case c.stuck <- struct{}{}:
		default:
		}
	}
	<-c.mended
	return nil, errors.New("the connection was cut")
}

// mend lets requests pass again.
func (c *cuttable) mend() {
	if c.cut.Swap(false) {
		close(c.mended)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func newCuttable(t *testing.T, keys ...types.NamespacedName) *cuttable {
	t.Helper()
	c := &cuttable{
		clock: clocktesting.NewFakeClock(time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()),
		told:  make(chan int, shard.MaxShards),
		stuck: make(chan struct{}, 1), mended: make(chan struct{}),
	}
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), systemNamespace, "5spot-controller")
	if err != nil {
		t.Fatal(err)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) { return c.roundTrip(next, request) })
	})
	leases, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c.Replica, err = shard.New(shard.Options{
		Shards: 2, Namespace: systemNamespace, Lease: "5spot-leader", Name: "cuttable",
		LeaseDuration: fenceLease, RenewDeadline: fenceDeadline, RetryPeriod: time.Second,
		Client: leases.CoordinationV1(), Clock: c.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	list := func(context.Context) ([]types.NamespacedName, error) { return keys, nil }
	gained := func(i int, _ []types.NamespacedName) { c.told <- i }
	if err := c.Source(list, gained, nil).Start(t.Context(), c.queue); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		c.mend()
		stop()
		c.clock.Step(fenceLease) // whatever it waits for
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.queue.ShutDown()
	})
	return c
}

// TestWorkEndsWhenItsReplicaCannotRenew has a heartbeat of a replica hang and
// moves its clock to its renew deadline.
func TestWorkEndsWhenItsReplicaCannotRenew(t *testing.T) {
	if err := devplanetest.Client(t).DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace(systemNamespace)); err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: "trading", Name: "rack"}
	c := newCuttable(t, key)
	first, _ := c.queue.Get() // once the shard is held, all of its objects are worked on
	if first.NamespacedName != key {
		t.Fatalf("%s is to be worked on, want %s", first, key)
	}
	select {
	case <-c.told:
	default:
		t.Error("an object is to be worked on before its shard is told of")
	}
	asked, endAsked := context.WithCancel(t.Context())
	work, end, ok := c.Begin(asked, key)
	if !ok {
		t.Fatal("it does not begin the work of a shard that it holds")
	}
	endAsked()
	c.cut.Store(true)
	c.clock.Step(time.Second) // to the next heartbeat
	select {
	case <-c.stuck:
	case <-devplanetest.Context(t).Done():
		t.Fatal("there is no heartbeat")
	}
	c.clock.Step(fenceDeadline - time.Second - time.Millisecond)
	if work.Err() != nil {
		t.Error("the work ended before the deadline, or when the controller was told to stop")
	}
	c.clock.Step(time.Millisecond)
	select {
	case <-work.Done():
	case <-devplanetest.Context(t).Done():
		t.Error("the work goes on after the deadline")
	}
	if _, _, ok := c.Begin(t.Context(), key); ok {
		t.Error("it begins work after its deadline")
	}
	if held := c.Held(); held != 0 {
		t.Errorf("it says that it holds %d shards", held)
	}
	c.queue.Done(first)
	end()
	c.mend()

	again := make(chan reconcile.Request, 1)
	go func() {
		request, _ := c.queue.Get()
		again <- request
	}()
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 20*time.Millisecond, true, func(context.Context) (bool, error) {
		c.clock.Step(time.Second) // to the next attempt
		return len(again) > 0, nil
	})
	if err != nil {
		t.Fatal("the shard is not held again")
	}
	if request := <-again; request.NamespacedName != key {
		t.Errorf("%s is to be worked on again, want %s", request, key)
	}
}

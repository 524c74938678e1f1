// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/alarm"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/schedules"
	"github.com/fivespot/fivespot/internal/shard"
	"github.com/fivespot/fivespot/internal/workload"
)

// Options of the controller. The zero value of a field means what its comment says.
type Options struct {
	// AllowedGroups says which API groups the embedded specs may use. Zero: capi.DefaultAllowedGroups.
	AllowedGroups capi.AllowedGroups
	// Clock tells the time. Nil: the wall clock.
	Clock clock.Clock
	// Metrics is where metrics are registered. Nil: nowhere.
	Metrics prometheus.Registerer
	// Concurrency is how many ScheduledMachines are worked on at once. Zero: 10.
	Concurrency int
	// Gate bounds how many machines come up at a time. Nil: one that does not.
	Gate *activation.Gate
	// Shards says which ScheduledMachines are this replica's to act for. Nil: all
	// of them, once the manager is the leader.
	Shards *shard.Replica
	// FinalizerTimeout is how long after spec.gracefulShutdownTimeout a deleted
	// ScheduledMachine is let go though not everything of it is gone. Zero:
	// DefaultFinalizerTimeout.
	FinalizerTimeout time.Duration
}

func (o *Options) applyDefaults() {
	if len(o.AllowedGroups.Bootstrap)+len(o.AllowedGroups.Infrastructure) == 0 {
		o.AllowedGroups = capi.DefaultAllowedGroups
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Concurrency == 0 {
		o.Concurrency = 10
	}
	if o.Gate == nil {
		o.Gate = activation.New(activation.Options{Clock: o.Clock})
	}
	if o.FinalizerTimeout == 0 {
		o.FinalizerTimeout = DefaultFinalizerTimeout
	}
}

// Setup adds the controller, and the caches it reads, to a manager. The
// manager's client must read its own writes: see ClientOptions.
func Setup(ctx context.Context, mgr manager.Manager, options Options) error {
	options.applyDefaults()
	dynamicClient, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("making a client for Cluster API objects: %w", err)
	}
	registry, err := kinds.NewRegistry(dynamicClient)
	if err != nil {
		return err
	}
	counters, err := newMetrics(options.Metrics)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if err := options.Metrics.Register(newCensus(mgr.GetCache())); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	log := mgr.GetLogger().WithName("scheduledmachine")
	seen := caches{
		schedules: schedules.New(dynamicClient, registry, log),
		children:  newChildren(dynamicClient, registry, log),
		clusters:  newClusters(dynamicClient, registry, log),
	}
	r := &Reconciler{
		client:    mgr.GetClient(),
		apiReader: mgr.GetAPIReader(),
		dynamic:   dynamicClient,
		schedules: seen.schedules,
		children:  seen.children,
		clusters:  seen.clusters,
		allowed:   options.AllowedGroups,
		limits:    limits{finalizer: options.FinalizerTimeout},
		gate:      options.Gate,
		clock:     options.Clock,
		alarms:    alarm.New[types.NamespacedName](options.Clock),
		events:    mgr.GetEventRecorder(v1beta1.FieldManager),
		metrics:   counters,
	}
	for _, runnable := range []manager.Runnable{registry, seen.schedules.Store(), seen.children, seen.clusters} {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding a cache to the manager: %w", err)
		}
	}
	if err := mgr.AddReadyzCheck("kinds", func(*http.Request) error { return registry.Err() }); err != nil {
		return fmt.Errorf("adding a check to /readyz: %w", err)
	}
	return r.watch(ctx, mgr, seen, options)
}

// caches are what the controller reads, as they are made.
type caches struct {
	schedules *schedules.Cache
	children  *kinds.Store[*child]
	clusters  *kinds.Store[*clusterPart]
}

// ClientOptions are the options that the manager's client needs.
func ClientOptions() client.Options {
	enabled := true
	return client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &enabled}}
}

// watch has every change that can matter wake the ScheduledMachine it matters to.
func (r *Reconciler) watch(ctx context.Context, mgr manager.Manager, seen caches, options Options) error {
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r.cache = mgr.GetCache()
	waker := newWaker(r.cache, r.gate.Gather, r.held)
	workloads, err := workload.New(workload.Options{
		Config: mgr.GetConfig(), Wake: waker.add, Clock: options.Clock, Metrics: options.Metrics, Log: mgr.GetLogger().WithName("workload"),
	})
	if err != nil {
		return fmt.Errorf("setting up the connections to workload clusters: %w", err)
	}
	if err := mgr.Add(workloads); err != nil {
		return fmt.Errorf("adding the connections to workload clusters to the manager: %w", err)
	}
	r.workloads = workloads
	seen.schedules.Store().Subscribe(waker.scheduleChanged, waker.kindChanged)
	seen.children.Subscribe(waker.childChanged, waker.kindChanged)
	seen.children.SubscribeGroups(waker.controlPlaneChanged)
	seen.clusters.Subscribe(waker.clusterChanged, waker.kindChanged)
	work := builder.ControllerManagedBy(mgr).
		Named("scheduledmachine").
		For(&v1beta1.ScheduledMachine{}).
		WatchesRawSource(waker).
		WatchesRawSource(alarm.Source(r.alarms)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			NeedLeaderElection:      new(options.Shards == nil),
			NewQueue:                activation.NewQueue(mgr.GetLogger(), r.priority),
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
				firstRetry, longestRetry),
		})
	if options.Shards == nil {
		work = work.WatchesRawSource(activation.Source(r.gate, r.names))
	} else {
		work = work.WatchesRawSource(activation.Source(r.gate, nil)).
			WatchesRawSource(options.Shards.Source(r.names, r.gate.Expect, r.lost))
	}
	if err := work.Complete(shard.Guard(options.Shards, r.measured())); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	return nil
}

// held names the Machines that Cluster API holds for us.
func (r *Reconciler) held() []types.NamespacedName {
	return r.children.Members(capi.MachineKind, heldGroup)
}

// names returns every ScheduledMachine that the cache has, and those that are gone
// and whose Machine is still held for them.
func (r *Reconciler) names(ctx context.Context) ([]types.NamespacedName, error) {
	var all v1beta1.ScheduledMachineList
	if err := r.cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the ScheduledMachines: %w", err)
	}
	names := sets.New(r.held()...)
	for i := range all.Items {
		names.Insert(client.ObjectKeyFromObject(&all.Items[i]))
	}
	return names.UnsortedList(), nil
}

// lost drops what is kept in memory of a shard that another replica works on
// from now on.
func (r *Reconciler) lost(number int) {
	r.gate.Forget(number)
	names, err := r.names(context.Background())
	if err != nil {
		return // the cache is stopping, and so are we
	}
	for _, name := range names {
		if shard.Of(name, r.gate.Partitions()) == number {
			r.alarms.Clear(name)
			r.workloads.Release(name)
		}
	}
}

// priority is the rank in the controller's queue: spec.priority, or the default
// for what the cache does not have.
func (r *Reconciler) priority(request reconcile.Request) int {
	var sm v1beta1.ScheduledMachine
	if err := r.cache.Get(context.Background(), request.NamespacedName, &sm, client.UnsafeDisableDeepCopy); err != nil {
		return defaultPriority
	}
	return priorityOf(&sm)
}

// A failed reconcile is tried again after firstRetry, then twice that, and so
// on up to longestRetry.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Minute
)

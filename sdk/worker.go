// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/fivespot/fivespot/internal/alarm"
)

// worker runs one provider while the manager leads: it waits for the CRD, then
// watches the kind. Its cache is its own, so that a kind which cannot be listed
// holds up no other kind in the process.
type worker struct {
	provider *Provider
	manager  manager.Manager
	measures *measures
	// waiting is what the worker waits for; nil when for nothing.
	waiting atomic.Pointer[string]
}

func newWorker(p *Provider, mgr manager.Manager, m *measures) *worker {
	return &worker{provider: p, manager: mgr, measures: m}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*worker) NeedLeaderElection() bool { return true }

// ready implements healthz.Checker. A standby is ready.
func (w *worker) ready(*http.Request) error {
	if why := w.waiting.Load(); why != nil {
		return errors.New(*why)
	}
	return nil
}

// Start implements manager.Runnable.
func (w *worker) Start(ctx context.Context) error {
	w.waiting.Store(new("asking whether the kind is served"))
	if !w.awaitKind(ctx) {
		return nil
	}
	w.waiting.Store(new("reading the schedules for the first time"))
	schedules, err := w.newCache()
	if err != nil {
		return fmt.Errorf("making the cache of %s: %w", w.provider.kind.Kind, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	inputs, err := w.newInputs(ctx)
	if err != nil {
		return fmt.Errorf("making the client of what %s depends on: %w", w.provider.kind.Kind, err)
	}
	watcher, err := w.newController(schedules, inputs)
	if err != nil {
		return fmt.Errorf("making the controller of %s: %w", w.provider.kind.Kind, err)
	}
	defer inputs.background.Wait()
	group.Go(func() error { return schedules.Start(ctx) })
	group.Go(func() error { return watcher.Start(ctx) })
	group.Go(func() error {
		inputs.polls.alarms.Run(ctx, inputs.polls.due)
		return nil
	})
	group.Go(func() error {
		if _, err := schedules.GetInformer(ctx, w.object()); err == nil && schedules.WaitForCacheSync(ctx) {
			w.waiting.Store(nil)
		}
		return nil
	})
	return group.Wait()
}

// awaitKind returns true once the API server serves the kind, false when the
// process stops first.
func (w *worker) awaitKind(ctx context.Context) bool {
	logger := w.logger()
	said := ""
	err := wait.PollUntilContextCancel(ctx, w.provider.options.kindCheckEvery, true, func(context.Context) (bool, error) {
		why := w.unserved()
		if why != "" && why != said {
			logger.Info("waiting: " + why)
			w.waiting.Store(&why)
		}
		if why == "" && said != "" {
			logger.Info("the kind is served now")
		}
		said = why
		return why == "", nil
	})
	return err == nil
}

// unserved says why the kind cannot be watched yet, or "".
func (w *worker) unserved() string {
	kind := w.provider.kind
	mapping, err := w.manager.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	switch {
	case meta.IsNoMatchError(err):
		return fmt.Sprintf("the API server does not serve %s in %s; install its CRD", kind.Kind, kind.GroupVersion())
	case err != nil:
		return fmt.Sprintf("cannot ask the API server for %s in %s: %v", kind.Kind, kind.GroupVersion(), err)
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return kind.Kind + " is not namespaced, and a schedule kind has to be; correct its CRD"
	}
	return ""
}

func (w *worker) newCache() (cache.Cache, error) {
	return cache.New(w.manager.GetConfig(), cache.Options{
		HTTPClient:                  w.manager.GetHTTPClient(),
		Scheme:                      w.manager.GetScheme(),
		Mapper:                      w.manager.GetRESTMapper(),
		DefaultTransform:            cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler:    w.watchFailed,
		ReaderFailOnMissingInformer: true,
	})
}

// watchFailed explains the two failures that somebody has to do something
// about; the informer tries again by itself, with growing pauses.
func (w *worker) watchFailed(ctx context.Context, reflector *toolscache.Reflector, err error) {
	switch {
	case apierrors.IsForbidden(err):
		w.logger().Info("waiting: the API server refuses to list or watch the kind; "+
			"grant this account get, list and watch on it", "answer", err.Error())
	case apierrors.IsNotFound(err):
		w.logger().Info("waiting: the API server does not serve the kind any more; install its CRD")
	default:
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}

// newInputs returns what follows objects and asks servers until ctx is done.
func (w *worker) newInputs(ctx context.Context) (*liveInputs, error) {
	config := rest.CopyConfig(w.manager.GetConfig())
	// There may be a thousand watches, and to unpack what one brings in a year takes
	// more memory than all the rest of it.
	config.DisableCompression = true
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	live := &liveInputs{}
	watches := &watches{client: client, logger: w.logger(), running: &live.background}
	live.inputs = newInputs(ctx, inputsConfig{
		options: w.provider.options, logger: w.logger(), measures: w.measures,
		follow: watches.follow, wake: live.wakes.wake, begin: live.background.Go,
	})
	return live, nil
}

// liveInputs are inputs with what runs for them.
type liveInputs struct {
	*inputs

	wakes      wakes
	background sync.WaitGroup
}

func (w *worker) newController(schedules cache.Cache, inputs *liveInputs) (controller.Controller, error) {
	p := w.provider
	r := newReconciler(p, schedules, w.manager.GetClient(), inputs.inputs, w.measures)
	watcher, err := controller.NewTypedUnmanaged(strings.ToLower(p.kind.Kind), controller.Options{
		Reconciler:              r,
		Logger:                  w.manager.GetLogger(),
		MaxConcurrentReconciles: p.options.concurrency,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
			writeBackoffBase, writeBackoffMax),
		// An account that may not list yet is waited for, as a missing CRD is.
		CacheSyncTimeout: 365 * 24 * time.Hour,
		// Two managers in one process may run the same kind, as tests do.
		SkipNameValidation: new(true),
	})
	if err != nil {
		return nil, err
	}
	err = watcher.Watch(source.TypedKind(schedules, w.object(), newEventHandler(r.written)))
	if err != nil {
		return nil, err
	}
	return watcher, errors.Join(watcher.Watch(alarm.Source(r.alarms)), watcher.Watch(&inputs.wakes))
}

func (w *worker) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(w.provider.kind)
	return object
}

func (w *worker) logger() logr.Logger {
	return w.manager.GetLogger().WithName("provider").WithValues("kind", w.provider.kind.Kind)
}

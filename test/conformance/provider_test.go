// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fault is the one thing that a provider of these tests does wrong.
type fault string

// provider is a small provider of a kind whose spec has one field, mode: "on",
// "off", or anything else, which it cannot decide about. It is made without the
// sdk, which would refuse to be wrong.
type provider struct {
	kind   string
	fault  fault
	config *rest.Config
	clock  clock.RealClock
	// namespace is the only one that the provider works in, where it does that.
	namespace string
	// skew is what the provider adds to the kit's clock where it is to be late.
	skew *skewedClock
}

// skewedClock is the real clock and what was added to it.
type skewedClock struct {
	clock.RealClock

	added atomic.Int64
}

func (c *skewedClock) Now() time.Time { return c.RealClock.Now().Add(time.Duration(c.added.Load())) }

func (c *skewedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// worker is one process of a provider, from start to end.
type worker struct {
	*provider

	client client.Client
	queue  workqueue.TypedInterface[types.NamespacedName]
	// begun tells one process from the next.
	begun string
	// The rest is what faulty providers remember.
	decided map[types.NamespacedName]decision
	beats   int
}

type decision struct {
	generation int64
	mode       string
}

// run provides until ctx ends.
func (p *provider) run(ctx context.Context) error {
	c, err := client.New(p.config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		return err
	}
	w := &worker{
		provider: p, client: c,
		queue:   workqueue.NewTyped[types.NamespacedName](),
		begun:   p.clock.Now().Format(time.RFC3339Nano),
		decided: map[types.NamespacedName]decision{},
	}
	objects, err := cache.New(p.config, cache.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	if err != nil {
		return err
	}
	informer, err := objects.GetInformer(ctx, p.object(), cache.BlockUntilSynced(false))
	if meta.IsNoMatchError(err) {
		<-ctx.Done() // a kind that is not served has no objects
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := informer.AddEventHandler(w.handler()); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- objects.Start(ctx) }()
	context.AfterFunc(ctx, w.queue.ShutDown)
	if poll, polls := polls[p.fault]; polls {
		go w.poll(ctx, poll)
	}
	w.work(ctx)
	return <-ended
}

func (p *provider) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(groupVersion.WithKind(p.kind))
	return object
}

// distant is when all that these providers decide ends.
const distant = "2999-12-31T00:00:00Z"

// longestQueue is that of a provider that loses what does not fit.
const longestQueue = 5

func (w *worker) handler() toolscache.ResourceEventHandler {
	add := func(object any) {
		if w.fault == "loses events" && w.queue.Len() >= longestQueue {
			return
		}
		w.queue.Add(client.ObjectKeyFromObject(object.(*unstructured.Unstructured)))
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: add,
		UpdateFunc: func(old, object any) {
			switch {
			case w.fault == "ignores edits":
			case w.fault == "goes by generations" && generation(old) == generation(object):
			default:
				add(object)
			}
		},
	}
}

func generation(object any) int64 { return object.(*unstructured.Unstructured).GetGeneration() }

func (w *worker) work(ctx context.Context) {
	for {
		name, stopped := w.queue.Get()
		if stopped {
			return
		}
		err := w.reconcile(ctx, name)
		w.queue.Done(name)
		if err != nil && ctx.Err() == nil {
			w.queue.Add(name)
		}
	}
}

func (w *worker) reconcile(ctx context.Context, name types.NamespacedName) error {
	object := w.object()
	err := w.client.Get(ctx, name, object)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.overlooks(object) {
		return nil
	}
	if w.fault == "writes annotations" {
		if err := w.annotate(ctx, object); err != nil {
			return err
		}
	}
	before, _ := object.Object["status"].(map[string]any)
	status := w.statusFor(object, runtime.DeepCopyJSON(before), w.clock.Now().UTC().Format(time.RFC3339))
	if reflect.DeepEqual(before, status) {
		return nil
	}
	changed := object.DeepCopy()
	changed.Object["status"] = status
	err = w.client.Status().Patch(ctx, changed, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsNotFound(err) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// polling is a list of the objects every so often, beside the watch.
type polling struct {
	every   time.Duration
	options []client.ListOption
}

var polls = map[fault]polling{
	"polls":                    {50 * time.Millisecond, []client.ListOption{client.Limit(1)}},
	"polls a namespace":        {50 * time.Millisecond, []client.ListOption{client.Limit(1), client.InNamespace("default")}},
	"polls by name":            {50 * time.Millisecond, []client.ListOption{client.MatchingFields{"metadata.name": "idle"}}},
	"polls every nine seconds": {9 * time.Second, []client.ListOption{client.Limit(1)}},
}

func (w *worker) poll(ctx context.Context, p polling) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(groupVersion.WithKind(w.kind + "List"))
	for w.client.List(ctx, list, p.options...) == nil {
		<-w.clock.After(p.every)
	}
}

// overlooks reports whether the provider does nothing about an object.
func (w *worker) overlooks(object *unstructured.Unstructured) bool {
	switch w.fault {
	case "writes nothing":
		return true
	case "works in one namespace":
		if w.namespace == "" {
			w.namespace = object.GetNamespace()
		}
		return object.GetNamespace() != w.namespace
	case "is silent about invalid specs":
		mode := w.modeOf(object)
		return object.Object["status"] == nil && mode != "on" && mode != "off"
	case "gives up on invalid specs":
		status, _ := object.Object["status"].(map[string]any)
		return notReady(status)
	case "loses events":
		<-w.clock.After(50 * time.Millisecond) // it is slow
	case "is late":
		// As if it had looked again only now.
		if observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); observed != 0 && observed != object.GetGeneration() {
			w.skew.added.Add(int64(time.Hour))
		}
	}
	return false
}

func (w *worker) annotate(ctx context.Context, object *unstructured.Unstructured) error {
	body := fmt.Sprintf(`{"metadata":{"annotations":{"provider":"saw generation %d"}}}`, object.GetGeneration())
	return w.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(body)))
}

// statusFor returns the status that replaces the one before.
func (w *worker) statusFor(object *unstructured.Unstructured, status map[string]any, now string) map[string]any {
	if status == nil {
		status = map[string]any{}
	}
	was, known := status["active"]
	mode := w.modeOf(object)
	decided := mode == "on" || mode == "off"
	clings := w.clings(object, decided)
	switch {
	case !decided:
		w.guess(status, known)
	case !clings:
		status["active"] = w.verdict(mode)
	}
	if now := status["active"]; now == nil {
		delete(status, "active")
	}
	fresh := status["observedGeneration"] != object.GetGeneration()
	w.stamp(status, known && was == status["active"], fresh, fresh && !decided, now)
	status["observedGeneration"] = object.GetGeneration()
	if w.fault == "observes one generation" {
		status["observedGeneration"] = int64(1)
	}
	switch w.fault {
	case "says soon":
		status["nextTransitionTime"] = "soon"
	case "never says when":
	default:
		status["nextTransitionTime"] = distant
	}
	status["conditions"] = w.conditions(object, status["conditions"], decided, now)
	return status
}

func (w *worker) modeOf(object *unstructured.Unstructured) string {
	mode, _, _ := unstructured.NestedString(object.Object, "spec", "mode")
	if w.fault == "remembers names" {
		name := client.ObjectKeyFromObject(object)
		if before, known := w.decided[name]; known && before.generation == object.GetGeneration() {
			return before.mode
		}
		w.decided[name] = decision{generation: object.GetGeneration(), mode: mode}
	}
	return mode
}

func (w *worker) verdict(mode string) any {
	on := mode == "on"
	switch w.fault {
	case "publishes a string":
		return strconv.FormatBool(on)
	case "inverts":
		return !on
	case "is always active":
		return true
	}
	return on
}

// clings reports whether a verdict that was kept for want of another stays for good.
func (w *worker) clings(object *unstructured.Unstructured, decided bool) bool {
	if w.fault != "clings to what it kept" {
		return false
	}
	name := client.ObjectKeyFromObject(object)
	if !decided {
		w.decided[name] = decision{mode: "kept"}
	}
	return w.decided[name].mode == "kept"
}

// guess is what a provider does wrongly where it cannot decide.
func (w *worker) guess(status map[string]any, known bool) {
	switch {
	case w.fault == "turns invalid specs off" && known:
		status["active"] = false
	case w.fault == "turns invalid specs on" && known:
		status["active"] = true
	case w.fault == "turns off a moment later" && known && notReady(status):
		status["active"] = false
	case w.fault == "guesses at first" && !known:
		status["active"] = false
	case w.fault == "guesses a moment later" && !known && notReady(status):
		status["active"] = false
	}
}

// stamp sets the time of the last flip.
func (w *worker) stamp(status map[string]any, same, fresh, problem bool, now string) {
	switch {
	case status["active"] == nil:
	case w.fault == "stamps once" && status["lastTransitionTime"] != nil:
	case w.fault == "stamps each problem" && problem, w.fault == "stamps each generation" && fresh:
		status["lastTransitionTime"] = now
	case !same:
		status["lastTransitionTime"] = now
	}
}

func (w *worker) conditions(object *unstructured.Unstructured, before any, decided bool, now string) []any {
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "mode applied"}
	if !decided {
		ready["status"], ready["reason"], ready["message"] = "False", "InvalidSpec", "mode is neither on nor off"
	}
	switch w.fault {
	case "is never ready":
		ready["status"] = "False"
	case "speaks in sentences":
		ready["reason"] = "The mode was applied."
	case "beats":
		w.beats++
		ready["message"] = fmt.Sprint("beat ", w.beats)
		<-w.clock.After(20 * time.Millisecond) // others work on this machine
	case "signs its process":
		ready["message"] = "decided by the process of " + w.begun
	case "quotes annotations":
		ready["message"] = fmt.Sprint("annotations: ", object.GetAnnotations())
	}
	list, _ := before.([]any)
	after := []any{}
	ready["lastTransitionTime"] = now
	for _, item := range list {
		entry, _ := item.(map[string]any)
		switch {
		case entry["type"] == "Ready" && entry["status"] == ready["status"] && entry["lastTransitionTime"] != nil:
			ready["lastTransitionTime"] = entry["lastTransitionTime"]
		case entry["type"] != "Ready" && w.fault != "replaces conditions":
			after = append(after, item)
		}
	}
	return append(after, ready)
}

// notReady reports whether a status has a Ready condition that is not True.
func notReady(status map[string]any) bool {
	entry := readyOf(&unstructured.Unstructured{Object: map[string]any{"status": status}})
	return entry != nil && entry["status"] != "True"
}

// readyOf returns the Ready condition of an object; nil if it has none.
func readyOf(object *unstructured.Unstructured) map[string]any {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range list {
		if entry := item.(map[string]any); entry["type"] == "Ready" {
			return entry
		}
	}
	return nil
}

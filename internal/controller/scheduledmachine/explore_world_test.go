// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/alarm"
	"github.com/fivespot/fivespot/internal/capi"
)

// world is an API server with one ScheduledMachine, Cluster API, a workload
// cluster, schedules and the controller's caches, all in memory and all in the
// hands of a test. Only the controller itself is the real one. Caches show what
// was last delivered; writes may fail, or end the controller, before or after
// they take effect.
type world struct {
	fatalf func(format string, args ...any)
	clock  *clocktesting.FakeClock
	store  client.Client // of the ScheduledMachine

	deleted metav1.Time // when the ScheduledMachine was
	r       *Reconciler

	// objects are Cluster API's, version is the API server's.
	objects        map[schema.GroupKind]*unstructured.Unstructured
	version        int
	machineVersion string // of the Machine API that is served

	views
	readings
	lastResolved contract.State // the last verdict that the controller was given

	cluster cluster
	// far is the workload cluster, and near the management cluster. They can be one.
	far, near  *nodes
	secretGone bool // with the kubeconfig of the workload cluster
	// wentUndrained is true when the last Machine that went had been drained by Cluster
	// API, and pods were left when its time was over.
	wentUndrained bool
	// owed is the Node that must be deleted before everything rests.
	owed     types.UID
	settling bool
	// denied has the API server answer no question about an object.
	denied bool

	places
	writes int
	fault  fault
}

// fault is what happens to one write of a reconcile.
type fault struct {
	at    int // the number of the write; zero for none
	kind  string
	stale bool // a replica goes on whose caches are behind
}

const (
	faultRefused     = "the API server refuses"
	faultLost        = "the answer is lost"
	faultCrashBefore = "the controller ends before it"
	faultCrashAfter  = "the controller ends after it"
)

type crash struct{}

var worldName = types.NamespacedName{Namespace: "trading", Name: "rack"}

func newWorld(sm *v1beta1.ScheduledMachine, fatalf func(string, ...any)) *world {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		fatalf("%v", err)
	}
	w := &world{
		fatalf: fatalf, clock: clocktesting.NewFakeClock(noon),
		store:          fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(sm).WithObjects(sm).Build(),
		objects:        map[schema.GroupKind]*unstructured.Unstructured{},
		machineVersion: capi.VersionV1Beta2,
		readings:       readings{reading: reading(contract.Inactive), other: reading(contract.Inactive)},
		cluster:        cluster{machines: true},
	}
	w.far, w.near = newNodes(w), newNodes(w)
	w.restart()
	return w
}

// restart starts the controller anew, with nothing in its memory and fresh caches.
func (w *world) restart() {
	w.stalls = nil
	w.deliver()
	w.takeOver()
}

// takeOver has another replica go on, whose caches have what the watches brought.
func (w *world) takeOver() {
	w.expected, w.known = map[schema.GroupKind]int{}, w.watched
	w.r = newReconcilerOn(w)
	w.placeAgain()
}

func newReconcilerOn(w *world) *Reconciler {
	counters, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		w.fatalf("%v", err)
	}
	return &Reconciler{
		client: interceptor.NewClient(w.store.(client.WithWatch), interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
				return w.readKnown(into)
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				return w.writeOwn(func() error {
					before := w.stored()
					if err := c.Patch(ctx, object, patch, options...); err != nil {
						return err
					}
					w.checkRelease(before)
					return nil
				})
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				return w.writeOwn(func() error {
					before := w.stored()
					if err := c.SubResource(sub).Patch(ctx, object, patch, options...); err != nil {
						return err
					}
					w.checkStatus(before, w.stored())
					return nil
				})
			},
		}),
		apiReader: w.store, dynamic: worldDynamic{w},
		schedules: worldSchedules{w}, children: worldChildren{w}, clusters: worldClusters{w}, workloads: worldWorkloads{w},
		allowed: capi.DefaultAllowedGroups, limits: limits{finalizer: DefaultFinalizerTimeout},
		gate: activation.New(activation.Options{Limit: w.limit, Clock: w.clock}), clock: w.clock,
		alarms: alarm.New[types.NamespacedName](w.clock), events: &events.FakeRecorder{}, metrics: counters,
	}
}

func requestFor(name types.NamespacedName) reconcile.Request {
	return reconcile.Request{NamespacedName: name}
}

// reconcile has the controller look once.
func (w *world) reconcile(f fault) (wrote int, err error) {
	w.writes, w.fault, w.blind = 0, f, false
	defer func() {
		wrote, w.fault = w.writes, fault{}
		if ended := recover(); ended != nil {
			if _, is := ended.(crash); !is {
				panic(ended)
			}
			if f.stale {
				w.takeOver()
			} else {
				w.restart()
			}
		}
		if err != nil || w.blind || f.at > 0 && wrote >= f.at {
			w.forgetUnrecorded()
		}
		w.moveUp()
	}()
	_, err = w.r.Reconcile(context.Background(), requestFor(worldName))
	return w.writes, err
}

// forgetUnrecorded is for after a fault, or a wait: a verdict that could not be put
// on record was never given, as far as a controller that may end at any time can know.
func (w *world) forgetUnrecorded() {
	if sm := w.stored(); sm != nil && everResolved(outlookOf(&sm.Status)) {
		w.lastResolved = contract.Inactive
		if verdictOf(outlookOf(&sm.Status)) {
			w.lastResolved = contract.Active
		}
	}
}

// write passes a write of the controller on, or does to it what the fault says.
func (w *world) write(apply func() error) error {
	w.writes++
	if w.fault.at != w.writes {
		return apply()
	}
	switch w.fault.kind {
	case faultRefused:
		return apierrors.NewInternalError(errors.New("refused by the test"))
	case faultCrashBefore:
		panic(crash{})
	}
	if err := apply(); err != nil {
		return err
	}
	if w.fault.kind == faultCrashAfter {
		panic(crash{})
	}
	return apierrors.NewTimeoutError("lost by the test", 1)
}

// writeOwn is for writes of the ScheduledMachine, which the controller's cache
// shows from the moment that they are answered.
func (w *world) writeOwn(apply func() error) error {
	err := w.write(apply)
	if err == nil {
		w.known = w.stored()
	}
	return err
}

// stored returns the ScheduledMachine as the API server has it; nil when it is gone.
func (w *world) stored() *v1beta1.ScheduledMachine {
	var sm v1beta1.ScheduledMachine
	err := w.store.Get(context.Background(), worldName, &sm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.fatalf("%v", err)
	}
	if sm.DeletionTimestamp != nil { // which the store reads from the wall clock
		sm.DeletionTimestamp = &w.deleted
	}
	return &sm
}

// edit changes the ScheduledMachine as a user does, and the cache sees it at once.
func (w *world) edit(change func(*v1beta1.ScheduledMachine)) {
	sm := w.stored()
	if sm == nil {
		return
	}
	before := sm.DeepCopy()
	change(sm)
	sm.Generation++
	if err := w.store.Patch(context.Background(), sm, client.MergeFrom(before)); err != nil {
		w.fatalf("%v", err)
	}
	w.deliverOwn()
}

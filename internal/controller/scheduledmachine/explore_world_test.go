// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/workload"
)

// world is an API server with one ScheduledMachine, Cluster API, a schedule and
// the controller's caches, all in memory and all in the hands of a test. Only the
// controller itself is the real one. Caches show what was last delivered; writes
// may fail, or end the controller, before or after they take effect.
type world struct {
	fatalf func(format string, args ...any)
	clock  *clocktesting.FakeClock
	store  client.Client // of the ScheduledMachine
	r      *Reconciler

	objects, cached map[schema.GroupKind]*unstructured.Unstructured
	version, seen   int // of the API server, and as far as the caches have come
	expected        map[schema.GroupKind]int

	reading, delivered contract.Reading
	lastResolved       contract.State // the last verdict that the controller was given

	controlled bool // the cluster has a Machine of a control plane
	view       workload.View

	writes int
	fault  fault
	gone   bool // the ScheduledMachine is
}

// fault is what happens to one write of a reconcile.
type fault struct {
	at   int // the number of the write; zero for none
	kind string
}

const (
	faultRefused     = "the API server refuses"
	faultLost        = "the answer is lost"
	faultCrashBefore = "the controller ends before it"
	faultCrashAfter  = "the controller ends after it"
)

type crash struct{}

var worldKinds = map[schema.GroupKind]string{
	capi.MachineKind: "machines",
	{Group: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig"}:       "kubeadmconfigs",
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine"}:     "devmachines",
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "OtherMachine"}:   "othermachines",
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "NobodysMachine"}: "",
}

var worldName = types.NamespacedName{Namespace: "trading", Name: "rack"}

func newWorld(sm *v1beta1.ScheduledMachine, fatalf func(string, ...any)) *world {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		fatalf("%v", err)
	}
	w := &world{
		fatalf: fatalf, clock: clocktesting.NewFakeClock(noon),
		store:   fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(sm).WithObjects(sm).Build(),
		objects: map[schema.GroupKind]*unstructured.Unstructured{},
		reading: reading(contract.Inactive), controlled: true,
		view: workload.View{State: workload.Reachable, NodeState: workload.NodeAbsent},
	}
	w.restart()
	return w
}

// restart starts the controller anew, with nothing in its memory and fresh caches.
func (w *world) restart() {
	w.expected = map[schema.GroupKind]int{}
	w.deliver()
	w.r = newReconcilerOn(w)
}

// deliver lets the caches catch up.
func (w *world) deliver() {
	w.cached = map[schema.GroupKind]*unstructured.Unstructured{}
	for kind, object := range w.objects {
		w.cached[kind] = object.DeepCopy()
	}
	w.seen, w.delivered = w.version, w.reading
}

// reconcile has the controller look once.
func (w *world) reconcile(f fault) (wrote int, err error) {
	w.writes, w.fault = 0, f
	defer func() {
		wrote, w.fault = w.writes, fault{}
		if ended := recover(); ended != nil {
			if _, is := ended.(crash); !is {
				panic(ended)
			}
			w.restart()
		}
		if f.at > 0 && wrote >= f.at {
			w.forgetUnrecorded()
		}
	}()
	_, err = w.r.Reconcile(context.Background(), requestFor(worldName))
	return w.writes, err
}

// forgetUnrecorded is for after a fault: a verdict that could not be put on record
// was never given, as far as a controller that may end at any time can know.
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
	return &sm
}

// edit changes the ScheduledMachine as a user does.
func (w *world) edit(change func(*v1beta1.ScheduledMachine)) {
	sm := w.stored()
	if sm == nil {
		return
	}
	change(sm)
	sm.Generation++
	if err := w.store.Update(context.Background(), sm); err != nil {
		w.fatalf("%v", err)
	}
}

// put stores an object as a new version.
func (w *world) put(kind schema.GroupKind, object *unstructured.Unstructured) *unstructured.Unstructured {
	w.version++
	object.SetResourceVersion(strconv.Itoa(w.version))
	w.objects[kind] = object
	return object.DeepCopy()
}

// remove deletes an object as the API server does: one with finalizers stays and is going.
func (w *world) remove(kind schema.GroupKind) {
	object := w.objects[kind]
	if object == nil {
		return
	}
	if len(object.GetFinalizers()) == 0 {
		w.version++
		delete(w.objects, kind)
		return
	}
	if object.GetDeletionTimestamp() == nil {
		object = object.DeepCopy()
		object.SetDeletionTimestamp(new(metav1.NewTime(w.clock.Now())))
		w.put(kind, object)
	}
}

// machine returns the Machine of the ScheduledMachine as the API server has it; nil if there is none.
func (w *world) machine() *unstructured.Unstructured {
	machine := w.objects[capi.MachineKind]
	if machine == nil || !reduceChild(machine).ownedBy(ownUID) {
		return nil
	}
	return machine
}

// What the Reconciler asks of its caches.

type worldSchedules struct{ *world }

func (w worldSchedules) Read(string, v1beta1.ScheduleReference) (contract.Reading, bool) {
	if w.delivered.Resolved() {
		w.lastResolved = w.delivered.State
	}
	return w.delivered, true
}

type worldChildren struct{ *world }

func (w worldChildren) Want(schema.GroupKind) {}

func (w worldChildren) Get(kind schema.GroupKind, _ types.NamespacedName) kinds.Result[*child] {
	plural := worldKinds[kind]
	switch object := w.cached[kind]; {
	case plural == "":
		return kinds.Result[*child]{State: kinds.NotInstalled}
	case w.seen < w.expected[kind]:
		return kinds.Result[*child]{State: kinds.Loading}
	case object == nil:
		return kinds.Result[*child]{State: kinds.Absent, Kind: worldKind(kind)}
	default:
		return kinds.Result[*child]{State: kinds.Present, Kind: worldKind(kind), Object: reduceChild(object)}
	}
}

func worldKind(kind schema.GroupKind) kinds.Kind {
	return kinds.Kind{GroupKind: kind, Plural: worldKinds[kind], Namespaced: true, Served: []string{"v1beta2"}, Storage: "v1beta2"}
}

func (w worldChildren) HasAny(schema.GroupKind, string) bool { return w.controlled }

func (w worldChildren) Expect(kind schema.GroupKind, _ types.NamespacedName, resourceVersion string) {
	version, err := strconv.Atoi(resourceVersion)
	if err != nil {
		w.fatalf("%v", err)
	}
	w.expected[kind] = version
}

type worldClusters struct{}

func (worldClusters) Want(schema.GroupKind) {}

func (worldClusters) Get(schema.GroupKind, types.NamespacedName) kinds.Result[*clusterPart] {
	return kinds.Result[*clusterPart]{State: kinds.Present, Object: &clusterPart{}}
}

type worldWorkloads struct{ *world }

func (w worldWorkloads) Use(types.NamespacedName, workload.Reference, workload.Target) workload.View {
	return w.view
}
func (w worldWorkloads) Release(types.NamespacedName)             {}
func (w worldWorkloads) Wrote(types.NamespacedName, *corev1.Node) {}

// What the Reconciler writes Cluster API objects with.

type worldDynamic struct{ *world }

func (w worldDynamic) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	for kind, plural := range worldKinds {
		if plural == resource.Resource && kind.Group == resource.Group {
			return worldResource{world: w.world, kind: kind}
		}
	}
	w.fatalf("the controller writes %s", resource) // a schedule, say
	return nil
}

type worldResource struct {
	dynamic.NamespaceableResourceInterface // of which the Reconciler uses no more than is below

	*world
	kind schema.GroupKind
}

func (w worldResource) Namespace(string) dynamic.ResourceInterface { return w }

func (w worldResource) notFound() error {
	return apierrors.NewNotFound(schema.GroupResource{Group: w.kind.Group, Resource: worldKinds[w.kind]}, worldName.Name)
}

func (w worldResource) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	if object := w.objects[w.kind]; object != nil {
		return object.DeepCopy(), nil
	}
	return nil, w.notFound()
}

func (w worldResource) Create(_ context.Context, object *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (created *unstructured.Unstructured, err error) {
	err = w.write(func() error {
		if w.objects[w.kind] != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: worldKinds[w.kind]}, worldName.Name)
		}
		if w.kind == capi.MachineKind {
			w.checkCreation()
		}
		object = object.DeepCopy()
		object.SetUID(types.UID(fmt.Sprintf("%s-%d", w.kind.Kind, w.version)))
		object.SetCreationTimestamp(metav1.NewTime(w.clock.Now().Truncate(time.Second)))
		created = w.put(w.kind, object)
		return nil
	})
	return created, err
}

func (w worldResource) Delete(_ context.Context, _ string, options metav1.DeleteOptions, _ ...string) error {
	return w.write(func() error {
		object := w.objects[w.kind]
		switch {
		case object == nil:
			return w.notFound()
		case *options.Preconditions.UID != object.GetUID():
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("another UID"))
		}
		if !reduceChild(object).ownedBy(ownUID) {
			w.fatalf("the controller deletes a foreign %s", w.kind.Kind)
		}
		if w.kind == capi.MachineKind {
			w.checkDeletion(object)
		} else if machine := w.machine(); machine != nil {
			w.fatalf("the controller deletes the %s of a Machine", w.kind.Kind)
		}
		w.remove(w.kind)
		return nil
	})
}

func (w worldResource) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (patched *unstructured.Unstructured, err error) {
	err = w.write(func() error {
		object := w.objects[w.kind]
		if object == nil {
			return w.notFound()
		}
		before, err := json.Marshal(object.Object)
		if err != nil {
			return err
		}
		after, err := jsonpatch.MergePatch(before, data)
		if err != nil {
			return err
		}
		next := &unstructured.Unstructured{}
		if err := next.UnmarshalJSON(after); err != nil {
			return err
		}
		if next.GetUID() != object.GetUID() {
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("another UID"))
		}
		patched = w.put(w.kind, next)
		return nil
	})
	return patched, err
}

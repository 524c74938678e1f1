// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
)

// views are the caches that the Reconciler reads. Each shows what was last delivered to it.
type views struct {
	// watched is the ScheduledMachine as the watch brought it, known as this replica
	// reads it, which sees its own writes, and read as it did in the present
	// reconcile; nil when it is gone.
	watched, known, read *v1beta1.ScheduledMachine

	cached     map[schema.GroupKind]*unstructured.Unstructured
	seen       int // as far as cached has come
	expected   map[schema.GroupKind]int
	unreadable schema.GroupKind // cannot be listed; empty for none

	delivered readings

	stalls map[string]bool // caches whose watch brings nothing
	blind  bool            // the present reconcile was told to wait for a cache
}

// readings are what the schedules say.
type readings struct {
	reading contract.Reading // of the schedule that the fixture names
	other   contract.Reading // of the one named otherSchedule
}

const otherSchedule = "floor"

func (r readings) of(schedule string) contract.Reading {
	if schedule == otherSchedule {
		return r.other
	}
	return r.reading
}

// deliver lets all caches catch up whose watch does not stall.
func (w *world) deliver() {
	for _, cache := range w.allCaches() {
		if !w.stalls[cache.of] {
			cache.deliver()
		}
	}
}

// cache is one that catches up by itself.
type cache struct {
	of      string
	deliver func()
}

func (w *world) allCaches() []cache {
	return []cache{
		{"ScheduledMachines", w.deliverOwn},
		{"Cluster API objects", w.deliverObjects},
		{"schedules", func() { w.delivered = w.readings }},
		{"Nodes", func() {
			w.far.seen = w.far.node
			w.near.seen = w.near.node
		}},
	}
}

func (w *world) deliverOwn() {
	w.watched = w.stored()
	w.known = w.watched
}

func (w *world) deliverObjects() {
	w.cached = map[schema.GroupKind]*unstructured.Unstructured{}
	for kind, object := range w.objects {
		w.cached[kind] = object.DeepCopy()
	}
	w.seen = w.version
}

// changeCaches lets some of the caches catch up, one of the watches stall from now
// on, and one kind be listed anew.
func (w *world) changeCaches(t *rapid.T) {
	stalls := rapid.SampledFrom([]string{"", "", "", "ScheduledMachines", "Cluster API objects", "schedules", "Nodes"}).Draw(t, "the watch stalls of")
	w.stalls = map[string]bool{stalls: true}
	for _, cache := range w.allCaches() {
		if !w.stalls[cache.of] && rapid.IntRange(0, 3).Draw(t, cache.of+" catch up") > 0 {
			cache.deliver()
		}
	}
	w.unreadable = rapid.SampledFrom([]schema.GroupKind{{}, {}, {}, capi.MachineKind, capi.MachineKind, bootstrapKind, infrastructureKind}).Draw(t, "cannot be listed")
}

func (w *world) readKnown(into client.Object) error {
	if w.read = w.known; w.read == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "scheduledmachines"}, worldName.Name)
	}
	w.read.DeepCopyInto(into.(*v1beta1.ScheduledMachine))
	return nil
}

type worldSchedules struct{ *world }

func (w worldSchedules) Read(_ string, ref v1beta1.ScheduleReference) (contract.Reading, bool) {
	says := w.delivered.of(ref.Name)
	if says.Resolved() {
		w.lastResolved = says.State
	}
	return says, true
}

type worldChildren struct{ *world }

func (w worldChildren) Want(schema.GroupKind) {}

func (w worldChildren) Get(kind schema.GroupKind, _ types.NamespacedName) kinds.Result[*child] {
	switch object := w.cached[kind]; {
	case worldKinds[kind] == "":
		return kinds.Result[*child]{State: kinds.NotInstalled}
	case w.unreadable == kind:
		return kinds.Result[*child]{State: kinds.Unreadable, Err: errors.New("refused by the test")}
	case w.seen < w.expected[kind]:
		w.blind = true
		return kinds.Result[*child]{State: kinds.Loading}
	case object == nil:
		return kinds.Result[*child]{State: kinds.Absent, Kind: w.kind(kind)}
	default:
		return kinds.Result[*child]{State: kinds.Present, Kind: w.kind(kind), Object: reduceChild(object)}
	}
}

func (w *world) kind(kind schema.GroupKind) kinds.Kind {
	version := "v1beta2"
	if kind == capi.MachineKind {
		version = w.machineVersion
	}
	return kinds.Kind{GroupKind: kind, Plural: worldKinds[kind], Namespaced: true, Served: []string{version}, Storage: version}
}

func (w worldChildren) Members(schema.GroupKind, string) []types.NamespacedName { return nil }

func (w worldChildren) HasAny(schema.GroupKind, string) bool { return w.cluster.machines }

func (w worldChildren) Expect(kind schema.GroupKind, _ types.NamespacedName, resourceVersion string) {
	version, err := strconv.Atoi(resourceVersion)
	if err != nil {
		w.fatalf("%v", err)
	}
	w.expected[kind] = version
}

type worldClusters struct{ *world }

func (worldClusters) Want(schema.GroupKind) {}

func (w worldClusters) Get(kind schema.GroupKind, _ types.NamespacedName) kinds.Result[*clusterPart] {
	part := &clusterPart{}
	leaves := func() { part.DeletionTimestamp = &metav1.Time{Time: noon} }
	if kind != capi.ClusterKind {
		part.external = w.cluster.controlPlane == controlPlaneExternal
		switch w.cluster.controlPlane {
		case controlPlaneMissing:
			return kinds.Result[*clusterPart]{State: kinds.Absent}
		case controlPlaneLeaving:
			leaves()
		}
		return kinds.Result[*clusterPart]{State: kinds.Present, Object: part}
	}
	switch w.cluster.state {
	case clusterGone:
		return kinds.Result[*clusterPart]{State: kinds.Absent}
	case clusterLeaving:
		leaves()
	}
	if w.cluster.controlPlane != "" {
		part.controlPlane, part.controlPlaneName = schema.GroupKind{Group: capi.ControlPlaneGroup, Kind: "KubeadmControlPlane"}, "desk"
	}
	if !w.reachable() {
		part.connection = "the test says so"
	}
	return kinds.Result[*clusterPart]{State: kinds.Present, Object: part}
}

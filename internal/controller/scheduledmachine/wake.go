// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// Fields by which ScheduledMachines are found in the cache.
const (
	indexSchedule = "schedule" // kind/name of the schedule
	indexKind     = "kind"     // group/kind of each object that a ScheduledMachine has to do with
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for field, keys := range map[string]func(*v1beta1.ScheduledMachine) []string{
		indexSchedule: func(sm *v1beta1.ScheduledMachine) []string {
			return []string{scheduleKey(sm.Spec.Schedule.Kind, sm.Spec.Schedule.Name)}
		},
		indexKind: kindKeys,
	} {
		extract := func(object client.Object) []string {
			sm, ok := object.(*v1beta1.ScheduledMachine)
			if !ok {
				return nil
			}
			return keys(sm)
		}
		if err := indexer.IndexField(ctx, &v1beta1.ScheduledMachine{}, field, extract); err != nil {
			return fmt.Errorf("indexing ScheduledMachines by %s: %w", field, err)
		}
	}
	return nil
}

func scheduleKey(kind, name string) string { return kind + "/" + name }

func kindKeys(sm *v1beta1.ScheduledMachine) []string {
	keys := []string{
		schema.GroupKind{Group: contract.Group, Kind: sm.Spec.Schedule.Kind}.String(),
		capi.MachineKind.String(),
		schema.FromAPIVersionAndKind(sm.Spec.BootstrapSpec.APIVersion, sm.Spec.BootstrapSpec.Kind).GroupKind().String(),
		schema.FromAPIVersionAndKind(sm.Spec.InfrastructureSpec.APIVersion, sm.Spec.InfrastructureSpec.Kind).GroupKind().String(),
	}
	for _, ref := range []*v1beta1.ObjectReference{sm.Status.BootstrapRef, sm.Status.InfrastructureRef} {
		if ref != nil {
			keys = append(keys, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind().String())
		}
	}
	return keys
}

// waker turns changes of schedules, Cluster API objects and kinds into
// reconciles. It is a source of the controller; until that starts there is
// nobody to wake, and the start reconciles everything anyway.
type waker struct {
	machines client.Reader
	// gather is told the ScheduledMachines that are woken together, before they are.
	gather func([]types.NamespacedName)
	// held names the Machines that Cluster API holds for us.
	held  func() []types.NamespacedName
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
}

func newWaker(machines client.Reader, gather func([]types.NamespacedName), held func() []types.NamespacedName) *waker {
	return &waker{machines: machines, gather: gather, held: held}
}

// Start implements source.Source. Machines that are held for a ScheduledMachine that
// went while nobody was at work are looked at too.
func (w *waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	w.queue.Store(&queue)
	w.addHeld()
	return nil
}

func (w *waker) addHeld() {
	for _, name := range w.held() {
		w.add(name)
	}
}

// String names the source in the controller's logs.
func (w *waker) String() string { return "schedules, Cluster API objects and kinds" }

// childChanged wakes the ScheduledMachine of the same name.
func (w *waker) childChanged(_ schema.GroupKind, name types.NamespacedName) {
	w.add(name)
}

// scheduleChanged wakes the ScheduledMachines that follow a schedule.
func (w *waker) scheduleChanged(kind schema.GroupKind, name types.NamespacedName) {
	w.addMatching(client.InNamespace(name.Namespace), client.MatchingFields{indexSchedule: scheduleKey(kind.Kind, name.Name)})
}

// clusterChanged wakes the ScheduledMachines of a namespace. What is kept of a
// Cluster and of its control plane changes seldom.
func (w *waker) clusterChanged(_ schema.GroupKind, name types.NamespacedName) {
	w.addMatching(client.InNamespace(name.Namespace))
}

// controlPlaneChanged wakes the ScheduledMachines of a namespace when a Machine of
// a cluster's control plane comes or goes.
func (w *waker) controlPlaneChanged(_ schema.GroupKind, group string) {
	if namespace, _, of := strings.Cut(group, "/"); of {
		w.addMatching(client.InNamespace(namespace))
	}
}

// kindChanged wakes the ScheduledMachines that have to do with a kind; all of
// them when it is the empty kind, or one of a cluster.
func (w *waker) kindChanged(kind schema.GroupKind) {
	if kind.Empty() || kind == capi.ClusterKind || kind.Group == capi.ControlPlaneGroup {
		w.addMatching()
		return
	}
	if kind == capi.MachineKind {
		w.addHeld()
	}
	w.addMatching(client.MatchingFields{indexKind: kind.String()})
}

func (w *waker) addMatching(options ...client.ListOption) {
	if w.queue.Load() == nil {
		return
	}
	var matching v1beta1.ScheduledMachineList
	if err := w.machines.List(context.Background(), &matching, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		log.Log.Error(err, "cannot list the ScheduledMachines in the cache")
		return
	}
	names := make([]types.NamespacedName, 0, len(matching.Items))
	for i := range matching.Items {
		names = append(names, client.ObjectKeyFromObject(&matching.Items[i]))
	}
	w.gather(names)
	for _, name := range names {
		w.add(name)
	}
}

func (w *waker) add(name types.NamespacedName) {
	if queue := w.queue.Load(); queue != nil {
		(*queue).Add(reconcile.Request{NamespacedName: name})
	}
}

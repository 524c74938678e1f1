// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/workload"
)

// A machine stays where it cannot be told for sure that it has to go.

func TestOnlyAMachineThatNeverWasUpFailsForBeingLate(t *testing.T) {
	late := func(change func(*capi.MachineState)) *observation {
		machine := &capi.MachineState{Phase: "Running", NodeName: "worker-1"}
		change(machine)
		seen := whole(machine, time.Time{})
		seen.machine.child.CreationTimestamp = metav1.NewTime(noon.Add(-3 * time.Hour))
		return seen
	}
	same := func(*capi.MachineState) {}
	outOfSight := func(seen *observation) *observation {
		seen.connection = "the API server does not answer"
		return seen
	}
	for name, test := range map[string]struct {
		status v1beta1.ScheduledMachineStatus
		seen   *observation
		want   string
	}{
		"its node was never ready":                   {seen: late(same), want: v1beta1.ReasonProvisioningTimedOut},
		"its node was ready":                         {seen: late(same), status: v1beta1.ScheduledMachineStatus{MachineReadyTime: &metav1.Time{Time: noon.Add(-time.Hour)}}},
		"an earlier machine was":                     {seen: late(same), status: v1beta1.ScheduledMachineStatus{MachineReadyTime: &metav1.Time{Time: noon.Add(-4 * time.Hour)}}, want: v1beta1.ReasonProvisioningTimedOut},
		"the status is of an earlier version":        {seen: late(same), status: v1beta1.ScheduledMachineStatus{Ready: true}},
		"its node has joined and is out of sight":    {seen: outOfSight(late(same))},
		"nothing has joined and all is out of sight": {seen: outOfSight(late(func(m *capi.MachineState) { m.NodeName = "" })), want: v1beta1.ReasonProvisioningTimedOut},
		"Cluster API gave up":                        {seen: late(func(m *capi.MachineState) { m.Failure = "fire" }), status: v1beta1.ScheduledMachineStatus{Ready: true}, want: v1beta1.ReasonMachineFailed},
	} {
		t.Run(name, func(t *testing.T) {
			sm := rack()
			sm.Status = test.status
			if got, _, _ := failing(sm, test.seen, noon); got != test.want {
				t.Errorf("fails with %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhenAMachineWasReadyOutlivesAnUpgradeAndAClockThatIsBehind(t *testing.T) {
	active := reading(contract.Active)
	seen := whole(&capi.MachineState{Phase: "Running", NodeName: "worker-1"}, time.Time{})
	seen.reading, seen.readingKnown = active, true
	sm := rack(func(sm *v1beta1.ScheduledMachine) { sm.Status.Ready = true })
	if status := describe(judge(sm, seen, noon, limits{})); status.MachineReadyTime == nil || status.Ready {
		t.Errorf("an upgrade while the node is not ready: ready %v, machineReadyTime %v", status.Ready, status.MachineReadyTime)
	}

	seen.machine.child.machine.NodeReady = true
	seen.machine.child.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour))
	sm.Status = describe(judge(rack(), seen, noon, limits{}))
	if !wasReady(sm, seen.machine) {
		t.Errorf("the API server's clock is ahead: machineReadyTime %v counts for another machine", sm.Status.MachineReadyTime)
	}
}

// upWorld returns a world in which the machine runs.
func upWorld(t *testing.T) *world {
	t.Helper()
	w := activeWorld(t)
	w.settle()
	return w
}

// activeWorld returns a world in which the machine is to run.
func activeWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(rack(func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.BootstrapSpec.Spec.Raw, sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{}`), []byte(`{}`)
		sm.Spec.NodeDrainTimeout = "5m"
	}), t.Fatalf)
	w.reading = reading(contract.Active)
	return w
}

func TestASwitchThatHasBeenClearedSinceTakesNoMachineDown(t *testing.T) {
	w := upWorld(t)
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(false) })
	stale := w.stored()
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(true) })
	w.r.client = interceptor.NewClient(w.store.(client.WithWatch), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
			stale.DeepCopyInto(into.(*v1beta1.ScheduledMachine))
			return nil
		},
	})
	if _, err := w.r.Reconcile(t.Context(), requestFor(worldName)); err != nil {
		t.Error(err)
	}
	if at, set := w.r.alarms.At(worldName); !set || at.After(w.clock.Now().Add(loadingPatience)) {
		t.Errorf("it is looked again at %v, want to do so soon", at)
	}
	if machine := w.machine(); machine == nil || machine.GetDeletionTimestamp() != nil {
		t.Error("the Machine was deleted by a cache that is behind")
	}
}

func TestAScheduledMachineIsNotLetGoByACacheThatHasNotSeenItsMachine(t *testing.T) {
	w := upWorld(t)
	w.delete()
	clear(w.cached)
	if _, err := w.r.Reconcile(t.Context(), requestFor(worldName)); err != nil {
		t.Error(err)
	}
	if at, set := w.r.alarms.At(worldName); !set || at.After(w.clock.Now().Add(loadingPatience)) {
		t.Errorf("it is looked again at %v, want to do so soon", at)
	}
	if told := testutil.ToFloat64(w.r.metrics.reconciles.errors.WithLabelValues(errorConflict)); told != 1 {
		t.Errorf("%v conflicts are counted, want 1: nothing else would tell of a cache that stays behind", told)
	}
	if w.stored() == nil {
		t.Error("the ScheduledMachine was let go while its Machine runs")
	}
}

func TestAMachineIsNotStartedByAReconcileThatHadBegunBeforeTheBell(t *testing.T) {
	w := activeWorld(t)
	w.limit = 1
	w.restart()
	rings := true
	w.r.client = interceptor.NewClient(w.r.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if rings {
				w.r.gate.Gather([]types.NamespacedName{worldName})
			}
			return c.Get(ctx, key, into, options...)
		},
	})
	w.goOn(10)
	if w.machine() != nil {
		t.Fatal("the Machine was made while others that the bell concerns may be first")
	}
	rings = false
	w.goOn(10)
	if w.machine() == nil {
		t.Errorf("there is no Machine after the bell: %s", w.stored().Status.Message)
	}
}

func TestTheKillSwitchDoesNotWaitForWhoeverRefusesToChangeMachines(t *testing.T) {
	w := upWorld(t)
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true })
	if _, err := w.reconcile(fault{at: 1, kind: faultRefused}); err == nil {
		t.Error("nobody tries again to have the drain skipped")
	}
	machine := w.machine()
	if machine == nil || machine.GetDeletionTimestamp() == nil {
		t.Fatal("the Machine was not deleted")
	}
	w.deliver()
	if _, err := w.reconcile(fault{}); err != nil {
		t.Fatal(err)
	}
	if state := reduceChild(w.machine()).machine; !state.SkipsDrain {
		t.Error("Cluster API was not told to skip the drain")
	}
}

func TestAKubeconfigThatIsGoneIsNoDrainThatIsDone(t *testing.T) {
	for name, test := range map[string]struct {
		view workload.View
		done bool
	}{
		"the node's own cluster has no such Node": {workload.View{State: workload.Reachable, NodeState: workload.NodeAbsent}, true},
		"the management cluster has none":         {workload.View{State: workload.Reachable, NodeState: workload.NodeAbsent, Management: true}, false},
		"the management cluster has another":      {workload.View{State: workload.Reachable, NodeState: workload.NodeForeign, Management: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.view.Client = newNodesClient(&nodes{})
			seen := whole(&capi.MachineState{NodeName: "worker-1"}, noon)
			seen.view = &test.view
			progress := drainStep(t.Context(), &facts{sm: rack(), seen: seen, now: noon})
			if progress.done != test.done || progress.waiting() == "" {
				t.Errorf("done %v, waiting for %q", progress.done, progress.waiting())
			}
		})
	}
}

// oneCluster is a cache of Clusters.
type oneCluster struct{ kinds.Result[*clusterPart] }

func (oneCluster) Want(schema.GroupKind) {}

func (c oneCluster) Get(kind schema.GroupKind, _ types.NamespacedName) kinds.Result[*clusterPart] {
	if kind != capi.ClusterKind {
		return kinds.Result[*clusterPart]{State: kinds.Absent}
	}
	return c.Result
}

func TestAMissingKubeconfigMeansTheManagementClusterOnlyWhereNothingElseIsKnown(t *testing.T) {
	withControlPlane := &clusterPart{controlPlane: schema.GroupKind{Group: capi.ControlPlaneGroup, Kind: "KubeadmControlPlane"}, controlPlaneName: "desk"}
	leaving := *withControlPlane
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	for name, test := range map[string]struct {
		cluster    kinds.Result[*clusterPart]
		controlled bool
	}{
		"no control plane":                        {kinds.Result[*clusterPart]{State: kinds.Present, Object: &clusterPart{}}, false},
		"a control plane":                         {kinds.Result[*clusterPart]{State: kinds.Present, Object: withControlPlane}, true},
		"a control plane, and the cluster leaves": {kinds.Result[*clusterPart]{State: kinds.Present, Object: &leaving}, true},
		"no Cluster":                              {kinds.Result[*clusterPart]{State: kinds.Absent}, true},
		"Clusters cannot be listed":               {kinds.Result[*clusterPart]{State: kinds.Unreadable, Err: errors.New("down")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(rack(), t.Fatalf)
			w.r.clusters = oneCluster{test.cluster}
			var seen observation
			if err := w.r.observeCluster(rack(), &seen); err != nil {
				t.Fatal(err)
			}
			if seen.controlled != test.controlled {
				t.Errorf("has an API server of its own: %v, want %v", seen.controlled, test.controlled)
			}
		})
	}
}

func TestAPlaceAmongThoseThatComeUpIsNotHeldForEver(t *testing.T) {
	for timeout, held := range map[v1beta1.Timeout]time.Duration{"0s": defaultProvisioningTimeout, "10m": 10 * time.Minute, "2h": 2 * time.Hour} {
		sm := rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.ProvisioningTimeout = timeout })
		f := &facts{sm: sm, wanted: want{up: true}, seen: whole(nil, time.Time{})}
		until := f.seen.machine.child.CreationTimestamp.Add(held)
		if f.now = until.Add(-time.Second); !comingUp(f) {
			t.Errorf("provisioningTimeout %s: gives its place away too early", timeout)
		}
		if f.now = until; comingUp(f) {
			t.Errorf("provisioningTimeout %s: keeps its place after %s", timeout, held)
		}
	}
}

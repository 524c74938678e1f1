// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

// What a person is told is so, and is told once.

// watcher looks at a machine that goes down, one observation after the other, and
// keeps the warnings and drains that are told.
type watcher struct {
	t     *testing.T
	sm    *v1beta1.ScheduledMachine
	told  []string
	ready metav1.Condition
}

// listen returns a function that returns what the controller tells from now on.
func (w *world) listen() func() []string {
	recorder := events.NewFakeRecorder(100)
	w.r.events = recorder
	return func() (told []string) {
		for len(recorder.Events) > 0 {
			told = append(told, <-recorder.Events)
		}
		return told
	}
}

// undrainedWorld returns a world in which the machine runs, in a cluster in which
// Cluster API would not drain its node.
func undrainedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(rack(func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.BootstrapSpec.Spec.Raw, sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{}`), []byte(`{}`)
		sm.Spec.NodeDrainTimeout = "1m"
	}), t.Fatalf)
	w.cluster = cluster{}
	w.restart()
	w.reading = reading(contract.Active)
	w.settle()
	return w
}

func newWatcher(t *testing.T) *watcher {
	t.Helper()
	sm := rack()
	sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(false), Reason: contract.ReasonResolved}
	return &watcher{t: t, sm: sm}
}

// look describes a Machine that has been going since noon, some time later.
func (w *watcher) look(machine capi.MachineState, who drainer, view *workload.View, later time.Duration) {
	machine.UID, machine.NodeName = "m", "worker-1"
	seen := whole(&machine, noon)
	seen.drainer, seen.view = who, view
	seen.reading, seen.readingKnown = reading(contract.Inactive), true
	f := judge(w.sm, seen, noon.Add(later), limits{})
	if f.did == stepDrain {
		f.drain = drainStep(w.t.Context(), &f)
	}
	after := describe(f)
	for _, happened := range happenings(&f, &after) {
		if happened.action == "DrainNode" {
			w.told = append(w.told, happened.reason)
		}
	}
	w.sm.Status, w.ready = after, machineReady(after.Conditions)
}

func TestADrainIsToldAsDoneOnlyWhereItIs(t *testing.T) {
	draining := capi.MachineState{DeletingReason: clusterv1.MachineDeletingDrainingNodeReason, DeletingMessage: "pod quotes", DrainStartedAt: noon}
	state := func(reason string) capi.MachineState {
		return capi.MachineState{DeletingReason: reason, DrainStartedAt: noon}
	}
	skipped := func(m capi.MachineState) capi.MachineState {
		m.SkipsDrain = true
		return m
	}
	kill := func(on bool) func(*watcher) {
		return func(w *watcher) { w.sm.Spec.KillSwitch = on }
	}
	for name, test := range map[string]struct {
		looks []any
		want  []string
	}{
		"it is done": {
			looks: []any{draining, state(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason)}, want: []string{"NodeDraining", "NodeDrained"},
		},
		"Cluster API meets an error on the way": {
			looks: []any{draining, state(clusterv1.MachineDeletingInternalErrorReason), draining}, want: []string{"NodeDraining"},
		},
		"what comes after it fails": {
			looks: []any{draining, capi.MachineState{
				DeletingReason: clusterv1.MachineDeletingInternalErrorReason, DeletingMessage: "Failed to delete DevMachine, please check controller logs for errors",
			}},
			want: []string{"NodeDraining", "NodeDrained"},
		},
		"Cluster API gives it up, since the cluster goes": {
			looks: []any{draining, drainerNobody, state(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason)}, want: []string{"NodeDraining"},
		},
		"it was skipped by a switch that has been cleared since": {
			looks: []any{
				draining, kill(true), skipped(draining), kill(false), skipped(draining),
				skipped(state(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason)),
			},
			want: []string{"NodeDraining"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, who, later := newWatcher(t), drainerClusterAPI, time.Second
			for _, look := range test.looks {
				switch is := look.(type) {
				case capi.MachineState:
					w.look(is, who, nil, later)
				case drainer:
					who = is
				case func(*watcher):
					is(w)
				}
				later += time.Second
			}
			if diff := cmp.Diff(test.want, w.told); diff != "" {
				t.Errorf("what is told of the drain (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatADrainWaitedForOutlivesARestart(t *testing.T) {
	w := newWatcher(t)
	loading := &workload.View{State: workload.Loading}
	held := capi.MachineState{Held: true, DeletingReason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason}
	w.look(held, drainerUs, loading, time.Second) // it goes on record
	w.look(held, drainerUs, loading, 2*time.Second)
	for i := range w.sm.Status.Conditions {
		if w.sm.Status.Conditions[i].Type == v1beta1.ConditionMachineReady {
			w.sm.Status.Conditions[i].Message = "Waiting for pods: desk/quotes, budget quotes"
		}
	}
	w.look(held, drainerUs, loading, 4*time.Minute)
	w.look(held, drainerUs, loading, 6*time.Minute)
	if w.ready.Reason != v1beta1.ReasonNodeDrainFailed || !strings.Contains(w.ready.Message, "budget quotes") {
		t.Errorf("a drain that was cut short by a controller that had just started is told so: %s, %q", w.ready.Reason, w.ready.Message)
	}
}

func TestNobodyIsSaidToHaveDrainedWhereClusterAPIDoesNotRun(t *testing.T) {
	w := newWatcher(t)
	w.look(capi.MachineState{}, drainerClusterAPI, nil, time.Second)
	w.look(capi.MachineState{}, drainerClusterAPI, nil, 6*time.Minute)
	if !strings.Contains(w.ready.Message, "once its controller runs") {
		t.Errorf("the condition does not say who is missing: %q", w.ready.Message)
	}
}

func TestADrainOfOurOwnThatIsCutShortIsOnRecordBeforeTheMachineIsLetGo(t *testing.T) {
	for _, kind := range []string{faultRefused, faultCrashBefore} {
		t.Run(kind, func(t *testing.T) {
			w := undrainedWorld(t)
			w.far.pods = map[string]*pod{"quotes": {refuses: true}}
			w.reading = reading(contract.Inactive)
			for range 8 {
				w.goOn(1)
			}
			w.clock.SetTime(w.stored().Status.DrainDeadline.Add(time.Second))
			w.deliver()
			_, _ = w.reconcile(fault{at: 1, kind: kind})
			if !reduceChild(w.machine()).machine.Held {
				t.Error("the Machine was let go, and nobody has told that its node was not drained")
			}
			w.deliver()
			heard := w.listen()
			if _, err := w.reconcile(fault{}); err != nil {
				t.Fatal(err)
			}
			if told := heard(); !slices.ContainsFunc(told, func(e string) bool { return strings.HasPrefix(e, "Warning NodeDrainFailed") }) {
				t.Errorf("what is told is %q", told)
			}
			w.deliver()
			if _, err := w.reconcile(fault{}); err != nil || reduceChild(w.machine()).machine.Held {
				t.Errorf("the Machine was not let go: %v", err)
			}
		})
	}
}

func TestWhatCannotBeReadIsNotSaidToGoDown(t *testing.T) {
	for name, change := range map[string]func(*v1beta1.ScheduledMachine){
		"inactive": func(*v1beta1.ScheduledMachine) {},
		"disabled": func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(false) },
		"killed":   func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true },
		"deleted":  deleted,
	} {
		for _, kind := range []string{"Machine", "bootstrap object"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				w := newWatcher(t)
				change(w.sm)
				seen := nothing()
				seen.reading, seen.readingKnown = reading(contract.Inactive), true
				doubt := piece{unreadable: errors.New("the conversion webhook is down")}
				if kind == "Machine" {
					seen.machine = doubt
				} else {
					seen.bootstrap = doubt
				}
				seen.problems = field.ErrorList{field.InternalError(field.NewPath("spec"), doubt.unreadable)}
				status := describe(judge(w.sm, seen, noon, limits{finalizer: time.Hour}))
				if status.Phase != v1beta1.PhaseError || !strings.Contains(status.Message, "the conversion webhook is down") {
					t.Errorf("it is in phase %s: %s", status.Phase, status.Message)
				}
			})
		}
	}
}

func TestANodeThatIsNoLongerReadyIsNotSaidToComeUp(t *testing.T) {
	sm := rack()
	sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(true), Reason: contract.ReasonResolved}
	machine := &capi.MachineState{UID: "m", Phase: "Running", NodeName: "worker-1", NodeReady: true, BootstrapDataCreated: true, InfrastructureProvisioned: true}
	seen := whole(machine, time.Time{})
	seen.reading, seen.readingKnown = reading(contract.Active), true
	sm.Status = describe(judge(sm, seen, noon, limits{}))
	machine.NodeReady = false
	f := judge(sm, seen, noon.Add(3*time.Hour), limits{})
	after := describe(f)
	if want := "The machine was up, and waits for its node worker-1 to be ready"; after.Message != want {
		t.Errorf("it says %q, want %q", after.Message, want)
	}
	told := happenings(&f, &after)
	if len(told) != 1 || told[0].kind != "Warning" || told[0].reason != v1beta1.ReasonNodeNotReady {
		t.Errorf("what is told is %+v", told)
	}
}

func TestAMachineThatDidWellIsNotSaidToHaveFailed(t *testing.T) {
	sm := rack()
	sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(true), Reason: contract.ReasonResolved}
	sm.Status.MachineFailures = &v1beta1.MachineFailures{Count: 1, MachineUID: "the one before", Message: "no capacity"}
	seen := whole(&capi.MachineState{UID: "m", NodeName: "worker-1"}, noon)
	seen.reading, seen.readingKnown = reading(contract.Active), true
	if said := describe(judge(sm, seen, noon, limits{})).Message; strings.Contains(said, "it failed") {
		t.Errorf("of a Machine that somebody deleted it says %q", said)
	}
}

func TestAScheduledMachineWhoseMachineCannotBeAskedForGoesWithinItsBound(t *testing.T) {
	w := upWorld(t)
	w.reading = reading(contract.Inactive)
	w.settle()
	w.delete()
	w.deliver()
	w.denied = true
	if _, err := w.reconcile(fault{}); err == nil {
		t.Error("nobody tries again")
	}
	if said := w.stored().Status; said.Phase != v1beta1.PhaseError || !strings.Contains(said.Message, "looking for Machine") {
		t.Errorf("within its bound it is in phase %s: %s", said.Phase, said.Message)
	}
	w.clock.SetTime(w.deleted.Add(shutdownTimeout(w.stored()) + DefaultFinalizerTimeout))
	w.deliver()
	heard := w.listen()
	if _, err := w.reconcile(fault{}); err != nil || w.stored() != nil {
		t.Errorf("at its bound it is not let go: %v", err)
	}
	if told := heard(); len(told) != 1 || !strings.Contains(told[0], "looking for Machine") {
		t.Errorf("what is told is %q", told)
	}
}

func TestThatAScheduledMachineIsLetGoIsToldOnce(t *testing.T) {
	w := upWorld(t)
	w.delete()
	w.deliver()
	if _, err := w.reconcile(fault{}); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(48 * time.Hour)
	heard := w.listen()
	for _, f := range []fault{{at: 1, kind: faultRefused}, {at: 1, kind: faultRefused}, {}} {
		w.deliver()
		_, _ = w.reconcile(f) // an error is retried
	}
	told := slices.DeleteFunc(heard(), func(e string) bool { return !strings.Contains(e, v1beta1.ReasonFinalizerCleanupTimedOut) })
	if w.stored() != nil || len(told) != 1 {
		t.Errorf("it was told %d times", len(told))
	}
}

func TestAReplicaThatHasNotSeenTheMachineYetTellsOfNoOther(t *testing.T) {
	w := upWorld(t)
	w.clock.Step(3 * time.Hour)
	before := w.stored().Status
	clear(w.cached)
	w.takeOver()
	heard := w.listen()
	if _, err := w.reconcile(fault{}); err != nil {
		t.Error(err)
	}
	if told := heard(); len(told) > 0 {
		t.Errorf("what is told is %q", told)
	}
	if diff := cmp.Diff(before, w.stored().Status); diff != "" {
		t.Errorf("the status changes (-want +got):\n%s", diff)
	}
}

func TestARestartTakesNoMachineForOneThatIsNotReady(t *testing.T) {
	for name, state := range map[string]workload.State{"before it has connected": workload.Loading, "while the cluster is out of reach": workload.Unreachable} {
		t.Run(name, func(t *testing.T) {
			w := undrainedWorld(t)
			w.restart()
			w.far.state = state
			heard := w.listen()
			if _, err := w.reconcile(fault{}); err != nil {
				t.Error(err)
			}
			if told := heard(); len(told) > 0 || w.stored().Status.Phase != v1beta1.PhaseActive {
				t.Errorf("the phase is %s, and told is %q", w.stored().Status.Phase, told)
			}
		})
	}
}

func TestWhatCannotBeReadTakesNoMachineForOneThatIsNotReady(t *testing.T) {
	w := undrainedWorld(t)
	w.restart()
	w.r.clusters = unreadableClusters{}
	w.far.state = workload.Loading
	heard := w.listen()
	if _, err := w.reconcile(fault{}); err != nil {
		t.Error(err)
	}
	if told := heard(); len(told) > 0 || w.stored().Status.Phase != v1beta1.PhaseActive {
		t.Errorf("the phase is %s, and told is %q", w.stored().Status.Phase, told)
	}
}

// unreadableClusters are Clusters that cannot be listed.
type unreadableClusters struct{}

func (unreadableClusters) Want(schema.GroupKind) {}
func (unreadableClusters) Get(schema.GroupKind, types.NamespacedName) kinds.Result[*clusterPart] {
	return kinds.Result[*clusterPart]{State: kinds.Unreadable, Err: errors.New("the conversion webhook is down")}
}

func TestAnErrorWhileTheNodeIsOutOfSightPasses(t *testing.T) {
	w := undrainedWorld(t)
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "2m" })
	w.restart()
	w.far.state = workload.Loading
	if _, err := w.reconcile(fault{at: 1, kind: faultRefused}); err == nil || w.stored().Status.Phase != v1beta1.PhaseError {
		t.Fatalf("the phase is %s: %v", w.stored().Status.Phase, err)
	}
	for range 2 {
		w.deliver()
		if _, err := w.reconcile(fault{}); err != nil {
			t.Fatal(err)
		}
	}
	if w.stored().Status.Phase != v1beta1.PhaseActive {
		t.Errorf("the phase is %s: %s", w.stored().Status.Phase, w.stored().Status.Message)
	}
}

func TestALeftoverThatCannotBeReadKeepsNoOtherMachineWaiting(t *testing.T) {
	w := upWorld(t)
	w.limit = 1
	w.restart()
	w.reading = reading(contract.Inactive)
	w.goOn(2)
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.InfrastructureSpec.Kind = "OtherMachine" })
	w.unreadable = infrastructureKind
	w.goOn(6)
	w.reading = reading(contract.Active)
	w.clock.Step(time.Hour)
	w.goOn(10)
	if _, comingUp := w.r.gate.Counts(); comingUp > 0 {
		t.Error("it keeps a place, and cannot come up")
	}
	references := meta.FindStatusCondition(w.stored().Status.Conditions, v1beta1.ConditionReferencesValid)
	if w.stored().Status.Phase != v1beta1.PhaseError || references.Status != metav1.ConditionFalse {
		t.Errorf("the phase is %s: %s; the references: %s", w.stored().Status.Phase, w.stored().Status.Message, references.Message)
	}
}

func TestOnlyTheMachineThatFailedIsReplaced(t *testing.T) {
	for name, second := range map[string]func(*world){
		"which has come up since": func(w *world) { w.machineReports(w.machine(), "Running") },
		"once":                    func(w *world) { _, _ = w.reconcile(fault{}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := upWorld(t)
			w.machineReports(w.machine(), "Failed")
			w.deliver()
			if _, err := w.reconcile(fault{}); err != nil {
				t.Fatal(err)
			}
			w.deliver()
			w.clock.SetTime(w.stored().Status.MachineFailures.ReplaceTime.Time)
			heard := w.listen()
			second(w) // of which the cache does not know yet
			if _, err := w.reconcile(fault{}); err != nil {
				t.Error(err)
			}
			replaced := slices.DeleteFunc(heard(), func(e string) bool { return !strings.Contains(e, v1beta1.ReasonMachineReplaced) })
			if len(replaced) > 1 {
				t.Errorf("what is told is %q", replaced)
			}
			if name != "once" && w.machine().GetDeletionTimestamp() != nil {
				t.Error("a Machine that runs was replaced")
			}
		})
	}
}

func TestTheTaintsOfAnEarlierNodeAreNotOursOnTheNextOne(t *testing.T) {
	spare := v1beta1.NodeTaint{Key: "desk", Value: "spare", Effect: "NoSchedule"}
	sm := rack(func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.NodeTaints, sm.Status.AppliedNodeTaints = []v1beta1.NodeTaint{spare}, []v1beta1.NodeTaint{spare}
		sm.Status.NodeRef = &v1beta1.NodeReference{Name: "worker-1", UID: "the earlier one"}
	})
	node := &workload.Node{Name: "worker-1", UID: "the next one", Taints: []corev1.Taint{{Key: "desk", Value: "theirs", Effect: "NoSchedule"}}}
	seen := whole(&capi.MachineState{UID: "m", NodeName: "worker-1"}, time.Time{})
	seen.view = &workload.View{State: workload.Reachable, NodeState: workload.NodePresent, Node: node}
	seen.reading, seen.readingKnown = reading(contract.Active), true
	f := judge(sm, seen, noon, limits{})
	if err := newWorld(rack(), t.Fatalf).r.tendNode(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	sm.Status = describe(f)
	if plan := taints.Make(sm.Spec.NodeTaints, taints.Recorded(&sm.Status, node), node); len(plan.Conflicts) != 1 {
		t.Errorf("somebody else's taint is taken for ours: %+v", plan)
	}
}

func TestANodeThatWentWithItsClusterIsNoTrouble(t *testing.T) {
	sm := rack(deleted, func(sm *v1beta1.ScheduledMachine) {
		sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(false), Reason: contract.ReasonResolved}
		sm.Status.DrainStartTime = &metav1.Time{Time: noon}
		sm.Status.NodeRef = &v1beta1.NodeReference{Name: "worker-1", UID: "n"}
	})
	w := newWorld(rack(), t.Fatalf)
	seen := nothing()
	seen.machine.kind, seen.drainer = w.kind(capi.MachineKind), drainerNobody
	seen.view = &workload.View{State: workload.Unreachable, Reason: workload.ReasonKubeconfigNotFound, Message: "there is no Secret mine"}
	seen.reading, seen.readingKnown = reading(contract.Inactive), true
	for _, later := range []time.Duration{time.Second, 6 * time.Minute} {
		f := judge(sm, seen, noon.Add(later), limits{finalizer: time.Hour})
		if err := w.r.act(t.Context(), &f); f.did != stepForgetNode || err != nil || f.nodeLeft != "" {
			t.Errorf("after %s: step %d, %v, told %q", later, f.did, err, f.nodeLeft)
		}
	}
}

func TestANodeThatIsLeftForGoodIsTold(t *testing.T) {
	w := undrainedWorld(t)
	w.far.pods = nil
	w.reading = reading(contract.Inactive)
	for w.machine() != nil {
		w.goOn(1)
	}
	w.far.state = workload.Unreachable
	w.goOn(2)
	heard := w.listen()
	w.clock.Step(20 * time.Minute)
	w.goOn(4)
	told := slices.DeleteFunc(heard(), func(e string) bool { return !strings.HasPrefix(e, "Warning "+v1beta1.ReasonNodeDeletionFailed) })
	if w.far.node == nil || len(told) != 1 || !strings.Contains(told[0], "Node "+w.far.node.Name) {
		t.Errorf("of a Node that is left is told %q", told)
	}
}

func TestAFailureThatDiffersInNumbersAloneIsWrittenOnce(t *testing.T) {
	sm := rack()
	sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(true), Reason: contract.ReasonResolved}
	say := func(failure string) string {
		seen := nothing()
		seen.reading, seen.readingKnown = reading(contract.Active), true
		f := judge(sm, seen, noon, limits{})
		f.did, f.failure = stepCreate, errors.New(failure)
		sm.Status = describe(f)
		return sm.Status.Message
	}
	first := say(fmt.Sprintf("calling the webhook: read tcp 10.0.0.5:%d->10.96.1.1:443: connection reset by peer", 40001))
	if again := say(fmt.Sprintf("calling the webhook: read tcp 10.0.0.5:%d->10.96.1.1:443: connection reset by peer", 51234)); again != first {
		t.Errorf("the status changes with the port: %s", again)
	}
	sm.Generation++
	if edited := say(fmt.Sprintf("calling the webhook: read tcp 10.0.0.5:%d->10.96.1.1:443: connection reset by peer", 60001)); edited == first {
		t.Error("after an edit, which may be about the number, the number is the old one")
	}
	if other := say("calling the webhook: x509: certificate has expired"); other == first {
		t.Error("another failure is not told")
	}
}

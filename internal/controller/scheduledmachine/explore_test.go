// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/alarm"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/workload"
)

// TestWhatMustAlwaysHold walks at random through verdicts, switches, edits,
// faults, restarts, stale caches and whatever Cluster API may do, looks at every
// write that the controller makes on the way, and in the end lets everything come
// to rest: then the machine is where it is wanted, and nothing is written any more.
func TestWhatMustAlwaysHold(t *testing.T) {
	const rounds = 5 // of rapid's own number of walks, each of some thirty steps
	for range rounds {
		rapid.Check(t, walk)
	}
}

func walk(t *rapid.T) {
	sm := rack(func(sm *v1beta1.ScheduledMachine) {
		sm.Spec.BootstrapSpec.Spec.Raw, sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{}`), []byte(`{}`)
		sm.Spec.GracefulShutdownTimeout, sm.Spec.NodeDrainTimeout, sm.Spec.ProvisioningTimeout = "5m", "5m", "30m"
		sm.Spec.MinimumStateDuration = rapid.SampledFrom([]v1beta1.Timeout{"", "", "10m"}).Draw(t, "minimumStateDuration")
		sm.Spec.ActivationLead = rapid.SampledFrom([]v1beta1.Timeout{"", "", "15m"}).Draw(t, "activationLead")
	})
	w := newWorld(sm, t.Fatalf)
	t.Repeat(w.actions())
	w.settle()
}

func newReconcilerOn(w *world) *Reconciler {
	counters, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		w.fatalf("%v", err)
	}
	return &Reconciler{
		client: interceptor.NewClient(w.store.(client.WithWatch), interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				return w.write(func() error { return c.Patch(ctx, object, patch, options...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				before := w.stored()
				return w.write(func() error {
					if err := c.SubResource(sub).Patch(ctx, object, patch, options...); err != nil {
						return err
					}
					w.checkStatus(before, w.stored())
					return nil
				})
			},
		}),
		apiReader: w.store, dynamic: worldDynamic{w},
		schedules: worldSchedules{w}, children: worldChildren{w}, clusters: worldClusters{}, workloads: worldWorkloads{w},
		allowed: capi.DefaultAllowedGroups, limits: limits{finalizer: DefaultFinalizerTimeout},
		gate: activation.New(activation.Options{Clock: w.clock}), clock: w.clock,
		alarms: alarm.New[types.NamespacedName](w.clock), events: &events.FakeRecorder{}, metrics: counters,
	}
}

func requestFor(name types.NamespacedName) reconcile.Request {
	return reconcile.Request{NamespacedName: name}
}

// checkCreation holds every creation of a Machine against what the API server has.
func (w *world) checkCreation() {
	sm := w.stored()
	switch {
	case sm.Spec.KillSwitch, !ptr.Deref(sm.Spec.Enabled, true), !sm.DeletionTimestamp.IsZero():
		w.fatalf("a Machine is created though a switch or the deletion wants none")
	case !followedOf(outlookOf(&sm.Status)):
		w.fatalf("a Machine is created on a verdict that is not on record: %+v", sm.Status.SpotSchedule)
	case w.lastResolved != contract.Active && sm.Spec.MinimumStateDuration == "" && sm.Spec.ActivationLead == "":
		w.fatalf("a Machine is created and the last verdict was %v", w.lastResolved)
	}
}

// checkDeletion does so for every deletion.
func (w *world) checkDeletion(machine *unstructured.Unstructured) {
	sm := w.stored()
	switch failures := sm.Status.MachineFailures; {
	case sm.Spec.KillSwitch, !ptr.Deref(sm.Spec.Enabled, true), !sm.DeletionTimestamp.IsZero():
	case failures != nil && failures.MachineUID == machine.GetUID() && !w.clock.Now().Before(failures.ReplaceTime.Time):
	case sm.Status.DrainStartTime != nil: // decided when the drain began
	case followedOf(outlookOf(&sm.Status)):
		w.fatalf("a Machine is deleted, and the record says it stays: %+v", sm.Status.SpotSchedule)
	case w.lastResolved == contract.Active && sm.Spec.MinimumStateDuration == "":
		w.fatalf("a Machine is deleted, and the last verdict was active; the schedule reads %+v", w.delivered)
	}
}

// checkStatus holds every write of the status.
func (w *world) checkStatus(before, after *v1beta1.ScheduledMachine) {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		w.fatalf("a status is written that says nothing new")
	}
	ready := meta.FindStatusCondition(after.Status.Conditions, v1beta1.ConditionReady)
	if ready == nil || ready.Reason == "" || ready.Message == "" || after.Status.Message == "" || !slices.Contains(v1beta1.Phases, after.Status.Phase) {
		w.fatalf("the status gives no reason: phase %q, message %q, Ready %+v", after.Status.Phase, after.Status.Message, ready)
	}
	if everResolved(outlookOf(&before.Status)) && !everResolved(outlookOf(&after.Status)) {
		w.fatalf("the verdict on record is lost")
	}
}

// actions are what may happen in the world.
func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"the controller looks":        func(t *rapid.T) { w.look(t) },
		"the controller looks again":  func(t *rapid.T) { w.look(t) },
		"the controller looks closer": func(t *rapid.T) { w.look(t) },
		"the caches catch up":         func(*rapid.T) { w.deliver() },
		"the controller restarts":     func(*rapid.T) { w.restart() },
		"the schedule":                w.changeSchedule,
		"the user":                    w.changeSpec,
		"Cluster API":                 w.clusterAPI,
		"time passes": func(t *rapid.T) {
			w.clock.Step(time.Duration(rapid.Int64Range(1, int64(20*time.Minute)).Draw(t, "by")))
		},
		"the workload cluster": func(t *rapid.T) {
			w.controlled = rapid.Bool().Draw(t, "has a control plane")
			w.view.State = rapid.SampledFrom([]workload.State{workload.Loading, workload.Unreachable, workload.Reachable}).Draw(t, "is")
		},
		"somebody else": func(t *rapid.T) {
			if w.objects[capi.MachineKind] == nil && rapid.Bool().Draw(t, "takes the name") {
				foreign := machineObject()
				foreign.SetUID("foreign")
				w.put(capi.MachineKind, foreign)
			} else if w.machine() == nil {
				w.remove(capi.MachineKind)
			}
		},
	}
}

func (w *world) look(t *rapid.T) {
	f := fault{}
	if rapid.IntRange(0, 3).Draw(t, "fault") == 0 {
		f = fault{
			at:   rapid.IntRange(1, 4).Draw(t, "at write"),
			kind: rapid.SampledFrom([]string{faultRefused, faultLost, faultCrashBefore, faultCrashAfter}).Draw(t, "kind"),
		}
	}
	_, _ = w.reconcile(f) // an error is retried, which is the next look
	w.collect()
}

func (w *world) changeSchedule(t *rapid.T) {
	w.reading = reading(rapid.SampledFrom([]contract.State{contract.Active, contract.Inactive, contract.Unresolved}).Draw(t, "says"))
	if rapid.Bool().Draw(t, "with a next change") {
		w.reading.NextTransition = w.clock.Now().Add(time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(t, "in")))
	}
}

func (w *world) changeSpec(t *rapid.T) {
	what := rapid.SampledFrom([]string{"kill", "enable", "bootstrap", "infrastructure", "drain", "delete"}).Draw(t, "changes")
	if what == "delete" && rapid.IntRange(0, 9).Draw(t, "really") > 0 {
		return
	}
	if what == "delete" {
		if sm := w.stored(); sm != nil {
			if err := w.store.Delete(context.Background(), sm); err != nil {
				w.fatalf("%v", err)
			}
			w.collect()
		}
		return
	}
	w.edit(func(sm *v1beta1.ScheduledMachine) {
		switch what {
		case "kill":
			sm.Spec.KillSwitch = rapid.Bool().Draw(t, "killSwitch")
		case "enable":
			sm.Spec.Enabled = new(rapid.Bool().Draw(t, "enabled"))
		case "bootstrap":
			sm.Spec.BootstrapSpec.Spec.Raw = []byte(rapid.SampledFrom([]string{`{}`, `{"a":1}`}).Draw(t, "spec"))
		case "infrastructure":
			sm.Spec.InfrastructureSpec.Kind = rapid.SampledFrom([]string{"DevMachine", "OtherMachine", "NobodysMachine"}).Draw(t, "kind")
		case "drain":
			sm.Spec.NodeDrainTimeout = rapid.SampledFrom([]v1beta1.Timeout{"0s", "1m", "1h"}).Draw(t, "nodeDrainTimeout")
		}
	})
}

// collect does what the garbage collector does once the ScheduledMachine is gone.
func (w *world) collect() {
	if w.stored() != nil {
		return
	}
	w.gone = true
	for kind, object := range w.objects {
		if reduceChild(object).ownedBy(ownUID) {
			w.remove(kind)
		}
	}
}

// clusterAPI takes one step of Cluster API's, if there is one to take.
func (w *world) clusterAPI(t *rapid.T) {
	machine := w.machine()
	switch {
	case machine == nil:
	case machine.GetDeletionTimestamp() != nil:
		if len(machine.GetAnnotations()) < 3 && rapid.Bool().Draw(t, "the drain hangs") {
			return
		}
		w.machineGoes(machine)
	case len(machine.GetFinalizers()) == 0:
		w.machineIsTakenOn(machine)
	default:
		w.machineReports(machine, rapid.SampledFrom([]string{"Provisioning", "Running", "Running", "Failed"}).Draw(t, "reports"))
	}
}

func (w *world) machineIsTakenOn(machine *unstructured.Unstructured) {
	machine = machine.DeepCopy()
	machine.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
	w.put(capi.MachineKind, machine)
}

func (w *world) machineReports(machine *unstructured.Unstructured, phase string) {
	machine = machine.DeepCopy()
	status := map[string]any{"phase": phase}
	switch phase {
	case "Running":
		status["nodeRef"] = map[string]any{"name": "worker-1"}
		status["conditions"] = []any{map[string]any{"type": "NodeReady", "status": "True", "reason": "Ready", "lastTransitionTime": "2001-01-01T00:00:00Z"}}
	case "Failed":
		status["deprecated"] = map[string]any{"v1beta1": map[string]any{"failureReason": "CreateError", "failureMessage": "no capacity"}}
	}
	machine.Object["status"] = status
	w.put(capi.MachineKind, machine)
}

// machineGoes ends a Machine, and what it refers to.
func (w *world) machineGoes(machine *unstructured.Unstructured) {
	kind, _, _ := unstructured.NestedString(machine.Object, "spec", "infrastructureRef", "kind")
	for gk, object := range w.objects {
		if (gk.Kind == kind || gk.Kind == "KubeadmConfig") && reduceChild(object).ownedBy(ownUID) {
			w.remove(gk)
		}
	}
	w.version++
	delete(w.objects, capi.MachineKind)
}

// settle lets everything come to rest: caches catch up, Cluster API does its
// work, no write fails, and the clock goes from alarm to alarm.
func (w *world) settle() {
	if w.machine() == nil {
		w.remove(capi.MachineKind) // the foreign one
	}
	if w.view.State = workload.Reachable; w.reading.State == contract.Inactive {
		w.reading.NextTransition = time.Time{}
	}
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.InfrastructureSpec.Kind = "DevMachine" })
	quiet := 0
	for range 400 {
		version := w.version
		w.deliver()
		wrote, err := w.reconcile(fault{})
		w.collect()
		w.cooperate()
		if quiet++; wrote > 0 || err != nil || w.version != version {
			quiet = 0
		}
		if quiet < 2 {
			continue
		}
		at, set := w.r.alarms.At(worldName)
		if !set {
			w.checkRest()
			return
		}
		if at.After(w.clock.Now()) {
			w.clock.SetTime(at)
		}
	}
	w.fatalf("nothing comes to rest: %+v", w.stored())
}

// cooperate takes every step of Cluster API's that brings a Machine where it should be.
func (w *world) cooperate() {
	machine := w.machine()
	switch {
	case machine == nil:
	case machine.GetDeletionTimestamp() != nil:
		w.machineGoes(machine)
	case len(machine.GetFinalizers()) == 0:
		w.machineIsTakenOn(machine)
	default:
		if state := reduceChild(machine).machine; !state.Running() && state.Failure == "" {
			w.machineReports(machine, "Running")
		}
	}
}

// checkRest looks at the world once nothing happens in it any more.
func (w *world) checkRest() {
	sm := w.stored()
	if sm == nil {
		if len(w.objects) > 0 {
			w.fatalf("the ScheduledMachine is gone and left %v", w.objects)
		}
		return
	}
	up := followedOf(outlookOf(&sm.Status)) && ptr.Deref(sm.Spec.Enabled, true) && !sm.Spec.KillSwitch
	switch {
	case !sm.DeletionTimestamp.IsZero():
		w.fatalf("the ScheduledMachine stays though it is deleted")
	case w.delivered.Resolved() && verdictOf(outlookOf(&sm.Status)) != (w.delivered.State == contract.Active):
		w.fatalf("the schedule says %v, the record %+v", w.delivered.State, sm.Status.SpotSchedule)
	case up && (w.machine() == nil || sm.Status.Phase != v1beta1.PhaseActive):
		w.fatalf("the machine is wanted, and in phase %s: %s", sm.Status.Phase, sm.Status.Message)
	case !up && len(w.objects) > 0:
		w.fatalf("no machine is wanted, and there are %v", w.objects)
	case !up && !slices.Contains([]v1beta1.Phase{v1beta1.PhaseInactive, v1beta1.PhaseDisabled, v1beta1.PhaseTerminated}, sm.Status.Phase):
		w.fatalf("no machine is wanted, and the phase is %s: %s", sm.Status.Phase, sm.Status.Message)
	case sm.Status.ObservedGeneration != sm.Generation:
		w.fatalf("the status is of generation %d, the spec of %d", sm.Status.ObservedGeneration, sm.Generation)
	}
}

func machineObject() *unstructured.Unstructured {
	machine := &unstructured.Unstructured{}
	machine.SetGroupVersionKind(schema.GroupVersionKind{Group: capi.MachineKind.Group, Version: "v1beta2", Kind: "Machine"})
	machine.SetNamespace(worldName.Namespace)
	machine.SetName(worldName.Name)
	machine.SetCreationTimestamp(metav1.NewTime(noon))
	return machine
}

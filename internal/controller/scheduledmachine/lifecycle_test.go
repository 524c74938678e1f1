// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestAMachineComesWithItsScheduleAndGoesWithIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack")
	d.awaitPhase(sm, v1beta1.PhaseInactive)

	d.schedule(true)
	machine := d.awaitObject(machineKind, "rack")
	for _, kind := range []metav1.TypeMeta{bootstrapKind, infrastructureKind} {
		owners := d.awaitObject(kind, "rack").GetOwnerReferences()
		if len(owners) != 1 || owners[0].UID != sm.UID {
			t.Errorf("%s is owned by %+v, want the ScheduledMachine alone", kind.Kind, owners)
		}
	}
	if owner := metav1.GetControllerOf(machine); owner == nil || owner.UID != sm.UID {
		t.Errorf("the Machine is controlled by %+v, want the ScheduledMachine", owner)
	}
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineCreated)

	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
	if !sm.Status.Ready || !sm.Status.InSchedule || sm.Status.NodeRef == nil || sm.Status.NodeRef.Name != "node-rack" || sm.Status.LastScheduledTime == nil {
		t.Errorf("an active machine shows %+v", sm.Status)
	}

	d.schedule(false)
	for _, kind := range []metav1.TypeMeta{machineKind, bootstrapKind, infrastructureKind} {
		d.awaitGone(kind, "rack")
	}
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	if sm.Status.MachineRef != nil || sm.Status.BootstrapRef != nil || sm.Status.InfrastructureRef != nil || sm.Status.NodeRef != nil {
		t.Errorf("references to objects that are gone: %+v", sm.Status)
	}
}

// A crash between acting and recording would leave a machine whose verdict
// nobody remembers, and a schedule that then cannot be read would take it down.
func TestAVerdictStandsInTheStatusBeforeItIsActedUpon(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack")
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	for _, flip := range []struct {
		active    bool
		verb      string
		completed func()
	}{
		{true, "create", func() { d.awaitObject(machineKind, "rack") }},
		{false, "delete", func() { d.awaitGone(machineKind, "rack") }},
	} {
		audit := devplane.OpenAuditLog(d.plane.AuditLog())
		if err := audit.SkipToEnd(); err != nil {
			t.Fatal(err)
		}
		d.schedule(flip.active)
		flip.completed()
		log, err := d.plane.AuditUntilNow(devplanetest.Context(t), audit)
		if err := errors.Join(err, audit.Close()); err != nil {
			t.Fatal(err)
		}
		recorded := false
		for _, event := range log {
			if event.Namespace != d.namespace || event.Code >= 300 {
				continue
			}
			recorded = recorded || event.Resource == "scheduledmachines" && event.Subresource == "status"
			if event.Resource == "machines" && event.Verb == flip.verb {
				if !recorded {
					t.Errorf("the Machine saw a %s before the verdict stood in the status", flip.verb)
				}
				break
			}
		}
	}
}

func TestAMachineThatIsGoingIsWaitedOutWhenItsScheduleReopens(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	first := d.holdMachine("rack")
	d.schedule(false)
	d.awaitPhase(sm, v1beta1.PhaseShuttingDown)
	d.awaitDeleted("rack")

	d.schedule(true)
	d.await(sm, func() error {
		if !strings.Contains(sm.Status.Message, "is active, and a new machine") {
			return fmt.Errorf("message is %q", sm.Status.Message)
		}
		return nil
	})
	d.letGo(first)
	second := d.object(machineKind, "rack")
	devplanetest.Await(t, second, func() error {
		if second.GetUID() == first.GetUID() {
			return errWaiting
		}
		return nil
	})
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
}

func TestDisablingShutsTheMachineDownAndEnablingBringsItBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.patch(sm, "", `{"spec":{"enabled":false}}`)
	d.awaitGone(machineKind, "rack")
	d.awaitPhase(sm, v1beta1.PhaseDisabled)
	if _, skipped := machine.GetAnnotations()["machine.cluster.x-k8s.io/exclude-node-draining"]; skipped {
		t.Error("disabling skipped the drain")
	}
	d.patch(sm, "", `{"spec":{"enabled":true}}`)
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
}

func TestTheKillSwitchSkipsTheDrain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	d.holdMachine("rack")
	d.patch(sm, "", `{"spec":{"killSwitch":true}}`)
	machine := d.awaitDeleted("rack")
	for _, annotation := range []string{"exclude-node-draining", "exclude-wait-for-node-volume-detach"} {
		if machine.GetAnnotations()["machine.cluster.x-k8s.io/"+annotation] == "" {
			t.Errorf("the Machine was deleted without the annotation %s", annotation)
		}
	}
	d.letGo(machine)
	d.awaitPhase(sm, v1beta1.PhaseTerminated)

	d.patch(sm, "", `{"spec":{"killSwitch":false}}`)
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
}

func TestADrainThatLastsTooLongIsCutShort(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = "90s" })
	machine := d.holdMachine("rack")
	d.schedule(false)
	d.awaitPhase(sm, v1beta1.PhaseShuttingDown)
	d.await(sm, func() error {
		if !strings.Contains(sm.Status.Message, "cut short") {
			return fmt.Errorf("message is %q", sm.Status.Message)
		}
		return nil
	})
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil {
		t.Fatal(err)
	}
	if machine.GetAnnotations()["machine.cluster.x-k8s.io/exclude-node-draining"] != "" {
		t.Fatalf("the drain was cut short before its time: %v", machine.GetAnnotations())
	}
	d.clock.SetTime(machine.GetDeletionTimestamp().Add(90e9))
	devplanetest.Await(t, machine, func() error {
		if machine.GetAnnotations()["machine.cluster.x-k8s.io/exclude-node-draining"] == "" {
			return errWaiting
		}
		return nil
	})
	d.letGo(machine)
	d.awaitPhase(sm, v1beta1.PhaseInactive)
}

func TestADeletedScheduledMachineTakesItsMachineAlong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	machine := d.holdMachine("rack")
	if err := d.client.Delete(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	d.awaitPhase(sm, v1beta1.PhaseShuttingDown)
	d.letGo(machine)
	devplanetest.AwaitGone(t, sm)
	for _, kind := range []metav1.TypeMeta{machineKind, bootstrapKind, infrastructureKind} {
		d.awaitGone(kind, "rack")
	}
}

func TestADeletedNamespaceEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	machine := d.holdMachine("rack")
	namespace := namespaceNamed(d.namespace)
	if err := d.client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	d.awaitPhase(sm, v1beta1.PhaseShuttingDown)
	d.letGo(machine)
	devplanetest.AwaitGone(t, namespace)
}

func TestEveryChangeOfPhaseIsAnEvent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack")
	d.patch(sm, "", `{"spec":{"killSwitch":true}}`)
	d.awaitPhase(sm, v1beta1.PhaseTerminated)

	want := map[string]string{ // note prefix: type
		"Pending -> Active: ":                               corev1.EventTypeNormal,
		"ShuttingDown -> Terminated: spec.killSwitch is on": corev1.EventTypeWarning,
	}
	list := &eventsv1.EventList{}
	watcher, err := d.client.Watch(devplanetest.Context(t), list, client.InNamespace(d.namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		seen, ok := event.Object.(*eventsv1.Event)
		if !ok || seen.Regarding.UID != sm.UID {
			continue
		}
		for prefix, kind := range want {
			if strings.HasPrefix(seen.Note, prefix) {
				if seen.Type != kind || !strings.HasPrefix(seen.Action, "PhaseTransitionTo") {
					t.Errorf("event %q has type %s and action %s", seen.Note, seen.Type, seen.Action)
				}
				delete(want, prefix)
			}
		}
		if len(want) == 0 {
			return
		}
	}
	t.Errorf("no event for %v", want)
}

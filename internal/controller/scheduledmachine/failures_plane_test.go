// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestAMachineThatDoesNotComeUpInTimeIsReplacedAndNotInALoop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.ProvisioningTimeout = "10m" })
	first := d.awaitObject(machineKind, "rack")
	d.patch(first, "status", `{"status":{"phase":"Provisioning","initialization":{"bootstrapDataSecretCreated":true},"conditions":[{"type":"Ready","status":"False","reason":"NotReady",
		"message":"* InfrastructureReady: no capacity in zone b","lastTransitionTime":"2001-01-01T00:00:00Z"}]}}`)
	d.await(sm, func() error { // that the controller has seen this, or the Machine is late before
		if said := condition(sm, v1beta1.ConditionReady).Message; !strings.HasSuffix(said, "waiting for its infrastructure") {
			return fmt.Errorf("Ready says %q", said)
		}
		return nil
	})
	// Once this clock is ahead of the API server's, each Machine is late at once.
	d.clock.SetTime(first.GetCreationTimestamp().Add(10 * time.Minute))
	pause := time.Minute
	for count := range 3 {
		machine := d.awaitObject(machineKind, "rack")
		failed := d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonProvisioningTimedOut)
		d.await(sm, func() error {
			if sm.Status.MachineFailures == nil || sm.Status.MachineFailures.MachineUID != machine.GetUID() {
				return errWaiting
			}
			return nil
		})
		if count == 0 && !strings.Contains(failed.Message, "no capacity in zone b") {
			t.Errorf("Ready does not pass on what Cluster API says: %s", failed.Message)
		}
		failures := *sm.Status.MachineFailures
		if int(failures.Count) != count+1 {
			t.Fatalf("counts %d failures, want %d", failures.Count, count+1)
		}
		if wait := failures.ReplaceTime.Sub(d.clock.Now()); wait < pause || wait > pause+time.Second {
			t.Errorf("failure %d is replaced after %s, want %s", failures.Count, wait, pause)
		}
		d.clock.SetTime(failures.ReplaceTime.Add(-time.Second))
		if again := d.awaitObject(machineKind, "rack"); again.GetUID() != machine.GetUID() {
			t.Fatal("the Machine was replaced before its time")
		}
		d.clock.SetTime(failures.ReplaceTime.Time)
		next := d.object(machineKind, "rack")
		devplanetest.Await(t, next, func() error {
			if next.GetUID() == machine.GetUID() {
				return errWaiting
			}
			return nil
		})
		pause *= 2
	}
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
	d.clock.Step(time.Hour)
	d.await(sm, func() error {
		if sm.Status.MachineFailures != nil {
			return errWaiting
		}
		return nil
	})
}

func TestAMachineThatClusterAPIGaveUpIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.patch(machine, "status", `{"status":{"phase":"Failed","deprecated":{"v1beta1":{"failureReason":"UpdateError","failureMessage":"the rack caught fire"}}}}`)
	failed := d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineFailed)
	if !strings.Contains(failed.Message, "the rack caught fire") || sm.Status.Phase != v1beta1.PhaseError {
		t.Errorf("phase %s, Ready says %q", sm.Status.Phase, failed.Message)
	}
	d.clock.Step(2 * time.Minute)
	next := d.object(machineKind, "rack")
	devplanetest.Await(t, next, func() error {
		if next.GetUID() == machine.GetUID() {
			return errWaiting
		}
		return nil
	})
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
}

func TestAFailedMachineThatIsNotWantedAnyMoreJustGoes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.patch(machine, "status", `{"status":{"phase":"Failed","deprecated":{"v1beta1":{"failureReason":"UpdateError","failureMessage":"gone"}}}}`)
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineFailed)
	d.schedule(false)
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	if sm.Status.MachineFailures != nil {
		t.Errorf("the next activation begins with %d failures", sm.Status.MachineFailures.Count)
	}
}

func TestAChangedSpecIsShownAndTakenUpAtTheNextActivation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.awaitReason(sm, v1beta1.ConditionUpToDate, v1beta1.ReasonUpToDate)
	for _, change := range []struct{ field, patch string }{
		{"spec.bootstrapSpec", `{"spec":{"bootstrapSpec":{"spec":{"format":"ignition"}}}}`},
		{"spec.infrastructureSpec", `{"spec":{"infrastructureSpec":{"metadata":{"labels":{"zone":"b"}}}}}`},
		{"spec.machineTemplate", `{"spec":{"machineTemplate":{"labels":{"desk":"fx"}}}}`},
	} {
		d.patch(sm, "", change.patch)
		d.await(sm, func() error {
			if outdated := condition(sm, v1beta1.ConditionUpToDate); outdated.Status != "False" || !strings.Contains(outdated.Message, change.field) {
				return fmt.Errorf("UpToDate is %+v, want it to name %s", outdated, change.field)
			}
			return nil
		})
	}
	if again := d.awaitObject(machineKind, "rack"); again.GetUID() != machine.GetUID() || sm.Status.Phase != v1beta1.PhaseActive {
		t.Fatal("the change was taken up in mid-session")
	}
	d.schedule(false)
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	if outdated := condition(sm, v1beta1.ConditionUpToDate); outdated.Type != "" {
		t.Errorf("without a machine UpToDate says %+v", outdated)
	}
	for _, kind := range []string{"bootstrap", "infrastructure"} {
		object := d.object(bootstrapKind, "rack")
		if kind == "infrastructure" {
			object = d.object(infrastructureKind, "rack")
		}
		if err := d.client.Delete(t.Context(), object); err != nil { // as Cluster API does
			t.Log(err)
		}
	}
	d.schedule(true)
	if label := d.runMachine("rack").GetLabels()["desk"]; label != "fx" {
		t.Errorf("the next Machine has label desk=%q", label)
	}
	d.awaitReason(sm, v1beta1.ConditionUpToDate, v1beta1.ReasonUpToDate)
}

func TestAChangedDrainTimeoutReachesTheMachineThatIsUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	d.patch(sm, "", `{"spec":{"nodeDrainTimeout":"90s"}}`)
	devplanetest.Await(t, machine, func() error {
		deletion, _ := machine.Object["spec"].(map[string]any)["deletion"].(map[string]any)
		if deletion["nodeDrainTimeoutSeconds"] != int64(90) {
			return fmt.Errorf("spec.deletion is %v", deletion)
		}
		return nil
	})
	if outdated := condition(sm, v1beta1.ConditionUpToDate); outdated.Status == "False" {
		t.Errorf("a timeout makes the machine out of date: %+v", outdated)
	}
}

func TestADeletedScheduledMachineIsLetGoThoughItsMachineStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, _ := d.up("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = "90s" })
	machine := d.holdMachine("rack")
	if err := d.client.Delete(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	d.awaitPhase(sm, v1beta1.PhaseShuttingDown)
	bound := sm.DeletionTimestamp.Add(90*time.Second + 10*time.Minute)
	d.clock.SetTime(bound.Add(-time.Second))
	d.await(sm, func() error { // the drain was cut short before that, and is told
		if condition(sm, v1beta1.ConditionMachineReady).Reason != v1beta1.ReasonNodeDrainFailed {
			return errWaiting
		}
		return nil
	})
	d.clock.SetTime(bound)
	devplanetest.AwaitGone(t, sm)
	d.awaitEvent("rack", v1beta1.ReasonFinalizerCleanupTimedOut)
	d.letGo(machine)
}

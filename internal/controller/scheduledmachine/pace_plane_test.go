// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
)

func TestAMachineStartsAheadOfTheOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opening := longAgo.Truncate(time.Second).Add(time.Hour)
	d.scheduleStatus(fmt.Sprintf(`{"active":false,"nextTransitionTime":%q}`, opening.Format(time.RFC3339)))
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.ActivationLead = "10m" })
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	if next := sm.Status.NextActivation; next == nil || !next.Time.Equal(opening) {
		t.Errorf("nextActivation is %v, want the opening, %s", next, opening)
	}
	d.awaitGone(machineKind, "rack")

	d.clock.SetTime(opening.Add(-10 * time.Minute))
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
	if sm.Status.InSchedule || !strings.Contains(sm.Status.Message, "ahead of the opening") {
		t.Errorf("inSchedule is %t, the message %q", sm.Status.InSchedule, sm.Status.Message)
	}

	d.clock.SetTime(opening)
	d.scheduleStatus(`{"active":true,"nextTransitionTime":null}`)
	d.await(sm, func() error {
		if !sm.Status.InSchedule {
			return errWaiting
		}
		return nil
	})
	d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMachineReady)
}

func TestAMachineStaysAsItIsForTheMinimum(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.MinimumStateDuration = "1h" })
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	d.schedule(true)
	machine := d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
	d.schedule(false)
	held := d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonMinimumStateDuration)
	if held.Status != "False" || sm.Status.Phase != v1beta1.PhaseActive || !strings.Contains(held.Message, "minimumStateDuration") {
		t.Errorf("the phase is %s, Ready %+v", sm.Status.Phase, held)
	}
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil || machine.GetDeletionTimestamp() != nil {
		t.Fatalf("the machine did not stay: %v", err)
	}
	d.clock.SetTime(sm.Status.Following.FollowedSince.Add(time.Hour))
	d.awaitGone(machineKind, "rack")
	d.awaitPhase(sm, v1beta1.PhaseInactive)
}

func TestASwitchDoesNotWaitForTheMinimum(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.MinimumStateDuration = "1h" })
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	d.schedule(true)
	d.runMachine("rack")
	d.awaitPhase(sm, v1beta1.PhaseActive)
	d.patch(sm, "", `{"spec":{"enabled":false}}`)
	d.awaitGone(machineKind, "rack")
	d.awaitPhase(sm, v1beta1.PhaseDisabled)
}

func TestAScheduleThatFlapsIsReported(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(false)
	sm := d.machine("rack", func(sm *v1beta1.ScheduledMachine) { sm.Spec.MinimumStateDuration = "1h" })
	d.awaitPhase(sm, v1beta1.PhaseInactive)
	machine := (*unstructured.Unstructured)(nil)
	for i := range 5 {
		verdict := i%2 == 0
		d.schedule(verdict)
		if machine == nil {
			machine = d.runMachine("rack")
		}
		d.await(sm, func() error {
			if sm.Status.InSchedule != verdict {
				return errWaiting
			}
			return nil
		})
	}
	d.awaitReason(sm, v1beta1.ConditionScheduleFlapping, v1beta1.ReasonVerdictChangesOften)
	uid := machine.GetUID()
	if machine = d.awaitObject(machineKind, "rack"); machine.GetUID() != uid {
		t.Error("the machine was replaced")
	}
	d.clock.Step(3 * time.Hour)
	d.awaitReason(sm, v1beta1.ConditionScheduleFlapping, v1beta1.ReasonVerdictSteady)
}

func TestMachinesComeUpAFewAtATimeByPriority(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.stop()
	d.gate = activation.New(activation.Options{Limit: 1, Clock: d.clock})
	d.start()
	d.schedule(true)
	prior := d.machine("prior")
	d.awaitObject(machineKind, "prior")
	var line []*v1beta1.ScheduledMachine
	for _, priority := range []int32{200, 100, 10} {
		sm := d.machine(fmt.Sprintf("p%d", priority), func(sm *v1beta1.ScheduledMachine) { sm.Spec.Priority = &priority })
		d.awaitReason(sm, v1beta1.ConditionReady, v1beta1.ReasonActivationQueued)
		if sm.Status.Phase != v1beta1.PhasePending || sm.Status.MachineRef != nil {
			t.Errorf("%s waits in phase %s with Machine %v", sm.Name, sm.Status.Phase, sm.Status.MachineRef)
		}
		line = append(line, sm)
	}
	d.runMachine("prior")
	d.awaitPhase(prior, v1beta1.PhaseActive)
	for i, sm := range line {
		d.awaitObject(machineKind, sm.Name)
		for _, later := range line[i+1:] {
			d.awaitReason(later, v1beta1.ConditionReady, v1beta1.ReasonActivationQueued)
			d.awaitGone(machineKind, later.Name)
		}
		d.runMachine(sm.Name)
		d.awaitPhase(sm, v1beta1.PhaseActive)
	}
}

func TestOneThatCannotBeMadeHoldsUpNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.stop()
	d.gate = activation.New(activation.Options{Limit: 1, Clock: d.clock})
	d.start()
	d.refused()
	d.machine("other")
	d.awaitObject(machineKind, "other")
}

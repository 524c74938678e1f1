// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// thirdParty is a schedule kind whose schema checks nothing, as a third party's
// may: any status can be stored in it.
const thirdParty = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: thirdpartyschedules.spotschedules.5spot.finos.org}
spec:
  group: spotschedules.5spot.finos.org
  scope: Namespaced
  names: {kind: ThirdPartySchedule, listKind: ThirdPartyScheduleList, plural: thirdpartyschedules, singular: thirdpartyschedule}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// unresolvable are all the ways in which a schedule gives no verdict.
var unresolvable = []struct {
	name, reason string
	// status is the schedule's status; empty: see kind and absent.
	status string
	// kind, if set, is named in place of ThirdPartySchedule.
	kind string
	// absent means that the object is deleted.
	absent bool
}{
	{name: "no CRD", reason: "ProviderCRDNotInstalled", kind: "NobodysSchedule"},
	{name: "no object", reason: "ProviderNotFound", absent: true},
	{name: "active is a string", reason: "StatusActiveMissing", status: `{"active":"true"}`},
	{name: "active is a number", reason: "StatusActiveMissing", status: `{"active":1}`},
	{name: "active is null", reason: "StatusActiveMissing", status: `{"active":null,"x":1}`},
	{name: "no status", reason: "StatusActiveMissing", status: `null`},
	{name: "Ready False", reason: "ProviderNotReady", status: `{"active":false,"conditions":[{"type":"Ready","status":"False","reason":"FeedDown","message":"no answer"}]}`},
	{name: "Ready Unknown", reason: "ProviderNotReady", status: `{"active":false,"conditions":[{"type":"Ready","status":"Unknown"}]}`},
	{name: "Ready is a boolean", reason: "ProviderNotReady", status: `{"active":false,"conditions":[{"type":"Ready","status":true}]}`},
	{name: "two Ready, one not True", reason: "ProviderNotReady", status: `{"active":false,"conditions":[{"type":"Ready","status":"True"},{"type":"Ready","status":"False"}]}`},
	{name: "conditions are a map", reason: "ProviderNotReady", status: `{"active":false,"conditions":{"Ready":"True"}}`},
}

// thirdPartySchedule makes the schedule "desk" of the third party's kind, or sets its status.
func (d *desk) thirdPartySchedule(status string) client.Object {
	d.Helper()
	s := d.object(metav1.TypeMeta{APIVersion: "spotschedules.5spot.finos.org/v1", Kind: "ThirdPartySchedule"}, "desk")
	if err := d.client.Create(d.Context(), s); client.IgnoreAlreadyExists(err) != nil {
		d.Fatal(err)
	}
	// A merge patch cannot replace one status by another, so empty it first.
	d.patch(s, "status", `{"status":null}`)
	d.patch(s, "status", `{"status":`+status+`}`)
	return s
}

func followThirdParty(sm *v1beta1.ScheduledMachine) {
	sm.Spec.Schedule = v1beta1.ScheduleReference{APIVersion: "spotschedules.5spot.finos.org/v1", Kind: "ThirdPartySchedule", Name: "desk"}
}

// reconcile20 has the controller look at the ScheduledMachine twenty times.
func (d *desk) reconcile20(sm *v1beta1.ScheduledMachine) {
	d.Helper()
	for i := range 20 {
		d.patch(sm, "", fmt.Sprintf(`{"spec":{"priority":%d}}`, 100+i))
		d.await(sm, func() error {
			if sm.Status.ObservedGeneration != sm.Generation {
				return errWaiting
			}
			return nil
		})
	}
}

func TestAMachineThatIsUpStaysUpWhileItsScheduleCannotBeRead(t *testing.T) {
	t.Parallel()
	devplanetest.Apply(t, []byte(thirdParty))
	for _, test := range unresolvable {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			schedule := d.thirdPartySchedule(`{"active":true}`)
			sm := d.machine("rack", followThirdParty)
			machine := d.runMachine("rack")
			d.awaitPhase(sm, v1beta1.PhaseActive)

			switch {
			case test.kind != "":
				d.patch(sm, "", `{"spec":{"schedule":{"kind":"`+test.kind+`"}}}`)
			case test.absent:
				if err := d.client.Delete(t.Context(), schedule); err != nil {
					t.Fatal(err)
				}
			default:
				d.thirdPartySchedule(test.status)
			}
			condition := d.awaitReason(sm, v1beta1.ConditionSpotScheduleResolved, test.reason)
			if condition.Status != metav1.ConditionFalse {
				t.Errorf("SpotScheduleResolved is %s", condition.Status)
			}
			d.reconcile20(sm)
			d.restart()
			d.reconcile20(sm)
			after := d.awaitObject(machineKind, "rack")
			if after.GetUID() != machine.GetUID() || after.GetDeletionTimestamp() != nil {
				t.Error("the machine did not stay")
			}
			if ready := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionReady); ready.Status == metav1.ConditionTrue {
				t.Error("Ready is True while the schedule cannot be read")
			}
			if sm.Status.Phase != v1beta1.PhaseActive || !sm.Status.InSchedule {
				t.Errorf("phase %s, inSchedule %v: the last verdict is not held", sm.Status.Phase, sm.Status.InSchedule)
			}

			d.patch(sm, "", `{"spec":{"schedule":{"kind":"ThirdPartySchedule"}}}`)
			d.thirdPartySchedule(`{"active":false}`)
			d.awaitGone(machineKind, "rack")
		})
	}
}

func TestAMachineThatNeverWasUpStaysDownWhileItsScheduleCannotBeRead(t *testing.T) {
	t.Parallel()
	devplanetest.Apply(t, []byte(thirdParty))
	for _, test := range unresolvable {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if !test.absent && test.kind == "" {
				d.thirdPartySchedule(test.status)
			}
			sm := d.machine("rack", followThirdParty, func(sm *v1beta1.ScheduledMachine) {
				if test.kind != "" {
					sm.Spec.Schedule.Kind = test.kind
				}
			})
			d.awaitReason(sm, v1beta1.ConditionSpotScheduleResolved, test.reason)
			d.reconcile20(sm)
			d.restart()
			d.reconcile20(sm)
			d.awaitGone(machineKind, "rack")
			if sm.Status.InSchedule || sm.Status.Phase != v1beta1.PhaseInactive || sm.Status.SpotSchedule.Active != nil {
				t.Errorf("a schedule that never gave a verdict left %+v", sm.Status)
			}

			d.patch(sm, "", `{"spec":{"schedule":{"kind":"ThirdPartySchedule"}}}`)
			d.thirdPartySchedule(`{"active":true,"conditions":null}`)
			d.awaitObject(machineKind, "rack")
		})
	}
}

func TestAStatusBehindItsSpecCountsAndSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.schedule(true)
	sm := d.machine("rack")
	d.awaitObject(machineKind, "rack")
	schedule := &spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "desk"}}
	d.patch(schedule, "", `{"spec":{"reason":"edited"}}`)
	d.await(sm, func() error {
		if !sm.Status.SpotSchedule.Stale {
			return errWaiting
		}
		return nil
	})
	if !sm.Status.SpotSchedule.Resolved || !sm.Status.InSchedule {
		t.Errorf("a stale status changed the verdict: %+v", sm.Status.SpotSchedule)
	}
}

func TestASchedulesDeletionAndReturnAreNoVerdict(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sm, machine := d.up("rack")
	schedule := &spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "desk"}}
	if err := d.client.Delete(t.Context(), schedule); err != nil {
		t.Fatal(err)
	}
	d.awaitReason(sm, v1beta1.ConditionSpotScheduleResolved, "ProviderNotFound")
	schedule.ResourceVersion, schedule.UID = "", ""
	if err := d.client.Create(t.Context(), schedule); err != nil {
		t.Fatal(err)
	}
	d.awaitReason(sm, v1beta1.ConditionSpotScheduleResolved, "StatusActiveMissing")
	if after := d.awaitObject(machineKind, "rack"); after.GetUID() != machine.GetUID() || after.GetDeletionTimestamp() != nil {
		t.Error("the machine did not stay")
	}
	d.schedule(false)
	d.awaitGone(machineKind, "rack")
}

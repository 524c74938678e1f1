// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

func TestTheNextStep(t *testing.T) {
	up, down, kill := want{up: true}, want{}, want{skipDrain: true}
	minuteAgo := noon.Add(-time.Minute)
	with := func(seen *observation, change func(*observation)) *observation {
		change(seen)
		return seen
	}
	forgetBy := minuteAgo.Add(5*time.Minute + nodeDeletionPatience)
	letGo := noon.Add(5*time.Minute + time.Hour)
	node := func(held bool, deleted time.Time, by drainer) *observation {
		machine := &capi.MachineState{NodeName: "worker-1", Held: held}
		return with(whole(machine, deleted), func(o *observation) { o.drainer = by })
	}
	running, held, going := node(false, time.Time{}, drainerUs), node(true, time.Time{}, drainerUs), node(true, minuteAgo, drainerUs)
	dueBy, look := minuteAgo.Add(5*time.Minute), noon.Add(5*time.Second)
	draining := func(sm *v1beta1.ScheduledMachine) {
		sm.Status.DrainStartTime = &metav1.Time{Time: minuteAgo}
		sm.Status.NodeRef = &v1beta1.NodeReference{Name: "worker-1"}
	}
	givenUp := func(sm *v1beta1.ScheduledMachine) {
		sm.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionMachineReady, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonNodeDrainFailed}}
	}
	for name, test := range map[string]struct {
		sm     *v1beta1.ScheduledMachine
		wanted want
		seen   *observation
		want   step
		again  time.Time
	}{
		"up, nothing exists":                   {wanted: up, seen: nothing(), want: stepCreate},
		"up, all exists":                       {wanted: up, seen: whole(nil, time.Time{}), want: stepNone},
		"up, a crash left two without Machine": {wanted: up, want: stepCreate, seen: with(whole(nil, time.Time{}), func(o *observation) { o.machine = absent("Machine") })},
		"up, the earlier Machine is going":     {wanted: up, seen: whole(nil, minuteAgo), want: stepNone, again: minuteAgo.Add(5 * time.Minute)},
		"up, earlier infrastructure is going": {wanted: up, want: stepNone, seen: with(nothing(), func(o *observation) {
			o.infrastructure = present("DevMachine", true, minuteAgo, nil)
		})},
		"up, a foreign Machine has the name": {wanted: up, want: stepNone, seen: with(nothing(), func(o *observation) {
			o.machine = present("Machine", false, time.Time{}, nil)
		})},
		"up, the spec cannot be used": {wanted: up, want: stepNone, seen: with(nothing(), func(o *observation) {
			o.problems = field.ErrorList{field.Required(field.NewPath("spec"), "")}
		})},
		"up, an object of an earlier kind is left": {wanted: up, want: stepCleanUp, seen: with(nothing(), func(o *observation) {
			o.leftovers = []piece{present("DevMachine", true, time.Time{}, nil)}
		})},
		"down, nothing exists":        {wanted: down, seen: nothing(), want: stepNone},
		"down, the Machine is up":     {wanted: down, seen: whole(nil, time.Time{}), want: stepDelete},
		"kill, the Machine is up":     {wanted: kill, seen: whole(nil, time.Time{}), want: stepDelete},
		"down, within the time given": {wanted: down, seen: whole(nil, minuteAgo), want: stepNone, again: minuteAgo.Add(5 * time.Minute)},
		"down, the time is over":      {wanted: down, seen: whole(nil, noon.Add(-5*time.Minute)), want: stepSkipDrain},
		"down, the time is over and Cluster API knows": {
			wanted: down, seen: whole(&capi.MachineState{SkipsDrain: true}, noon.Add(-time.Hour)), want: stepNone,
		},
		"kill, a drain is under way": {wanted: kill, seen: whole(nil, minuteAgo), want: stepSkipDrain},
		"down, a foreign Machine has the name": {wanted: down, want: stepNone, seen: with(nothing(), func(o *observation) {
			o.machine = present("Machine", false, time.Time{}, nil)
		})},
		"down, a crash left two without Machine": {wanted: down, want: stepCleanUp, seen: with(whole(nil, time.Time{}), func(o *observation) {
			o.machine = absent("Machine")
		})},
		"deleted, infrastructure is going": {sm: rack(deleted), wanted: down, want: stepNone, again: letGo, seen: with(nothing(), func(o *observation) {
			o.infrastructure = present("DevMachine", true, minuteAgo, nil)
		})},
		"deleted, nothing exists": {sm: rack(deleted), wanted: down, seen: nothing(), want: stepRelease, again: letGo},
		"deleted, nothing exists, the time to go is over": {
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.DeletionTimestamp = &metav1.Time{Time: noon.Add(-65 * time.Minute)}
			}),
			wanted: down, seen: nothing(), want: stepRelease,
		},
		"deleted, the Machine is up": {sm: rack(deleted), wanted: down, seen: whole(nil, time.Time{}), want: stepDelete, again: letGo},
		"deleted, the time to go is over": {
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.DeletionTimestamp = &metav1.Time{Time: noon.Add(-65 * time.Minute)}
			}),
			wanted: down, seen: whole(nil, noon.Add(-64*time.Minute)), want: stepAbandon,
		},
		"down, its drain timeout is not the spec's": {
			wanted: down, seen: whole(&capi.MachineState{DrainTimeout: new(time.Hour)}, time.Time{}), want: stepDelete,
		},
		"up, its drain timeout is not the spec's": {
			wanted: up, seen: whole(&capi.MachineState{DrainTimeout: new(time.Hour)}, time.Time{}), want: stepSyncDrain,
		},
		"kill, its drain timeout is not the spec's": {
			wanted: kill, seen: whole(&capi.MachineState{DrainTimeout: new(time.Hour)}, time.Time{}), want: stepDelete,
		},
		"going, its drain timeout is not the spec's": {
			wanted: down, seen: whole(&capi.MachineState{DrainTimeout: new(time.Hour)}, minuteAgo), want: stepSyncDrain, again: minuteAgo.Add(5 * time.Minute),
		},
		"up, Cluster API would not drain":   {wanted: up, seen: running, want: stepHold},
		"down, Cluster API would not drain": {wanted: down, seen: running, want: stepHold},
		"kill, Cluster API would not drain": {wanted: kill, seen: running, want: stepDelete},
		"up, a Machine of an earlier ScheduledMachine waits": {wanted: up, want: stepLetGo, seen: with(nothing(), func(o *observation) {
			o.machine = present("Machine", false, minuteAgo, &capi.MachineState{NodeName: "worker-1", Held: true})
		})},
		"up, Cluster API would wait for us":                {wanted: up, seen: held, want: stepNone},
		"down, Cluster API would wait for us":              {wanted: down, seen: held, want: stepDelete},
		"kill, Cluster API would wait for us":              {wanted: kill, seen: held, want: stepDelete},
		"up, Cluster API would drain by now":               {wanted: up, seen: node(true, time.Time{}, drainerClusterAPI), want: stepLetGo},
		"up, Cluster API would wait, the cluster goes":     {wanted: up, seen: node(true, time.Time{}, drainerNobody), want: stepNone},
		"up, nobody would drain, the cluster goes":         {wanted: up, seen: node(false, time.Time{}, drainerNobody), want: stepNone},
		"up, Cluster API would wait, the cluster is hid":   {wanted: up, seen: node(true, time.Time{}, drainerUnknown), want: stepNone},
		"going, Cluster API waits for us":                  {wanted: down, seen: going, want: stepBeginDrain},
		"going, somebody else deleted the Machine":         {wanted: up, seen: going, want: stepBeginDrain},
		"kill, Cluster API waits for us":                   {wanted: kill, seen: going, want: stepBeginDrain},
		"going, Cluster API waits and there is no node":    {wanted: down, want: stepLetGo, seen: with(whole(&capi.MachineState{Held: true}, minuteAgo), func(o *observation) { o.drainer = drainerUs })},
		"going, Cluster API waits and would drain by now":  {wanted: down, seen: node(true, minuteAgo, drainerClusterAPI), want: stepLetGo},
		"going, nobody waits for us":                       {wanted: down, seen: node(false, minuteAgo, drainerUs), want: stepBeginDrain}, // for its Node
		"going, let go":                                    {sm: rack(draining), wanted: down, seen: node(false, minuteAgo, drainerUs), want: stepNone, again: dueBy},
		"kill, our drain is under way":                     {sm: rack(draining), wanted: kill, seen: going, want: stepLetGo},
		"down, our drain is under way":                     {sm: rack(draining), wanted: down, seen: going, want: stepDrain, again: look},
		"up again, our drain is under way":                 {sm: rack(draining), wanted: up, seen: going, want: stepDrain, again: look},
		"our drain is under way, the cluster goes":         {sm: rack(draining), wanted: down, seen: node(true, minuteAgo, drainerNobody), want: stepDrain, again: look},
		"our drain is under way, Cluster API would by now": {sm: rack(draining), wanted: down, seen: node(true, minuteAgo, drainerClusterAPI), want: stepDrain, again: look},
		"the time of our drain is over": {
			sm:     rack(draining, func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "60s" }),
			wanted: down, seen: going, want: stepGiveUpDrain,
		},
		"the time of the shutdown is over, of our drain it is not": {
			sm:     rack(draining, func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "1h" }),
			wanted: down, seen: node(true, noon.Add(-5*time.Minute), drainerUs), want: stepGiveUpDrain,
		},
		"down, the Node of a machine that we drained is left": {sm: rack(draining), wanted: down, seen: nothing(), want: stepForgetNode, again: forgetBy},
		"down, the Node is left and the hardware took long": {
			sm: rack(draining, func(sm *v1beta1.ScheduledMachine) {
				sm.Status.DrainStartTime = &metav1.Time{Time: noon.Add(-time.Hour)}
			}),
			wanted: down, seen: nothing(), want: stepForgetNode,
		},
		"our drain was given up and may go on": {sm: rack(draining, givenUp), wanted: down, seen: going, want: stepDrain, again: look},
		"our drain was given up": {
			sm:     rack(draining, givenUp, func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "60s" }),
			wanted: down, seen: going, want: stepLetGo,
		},
		"up, the Node of a machine that we drained is left": {sm: rack(draining), wanted: up, seen: nothing(), want: stepForgetNode, again: forgetBy},
	} {
		t.Run(name, func(t *testing.T) {
			sm := test.sm
			if sm == nil {
				sm = rack()
			}
			got, again := next(&facts{sm: sm, wanted: test.wanted, seen: test.seen, now: noon, limits: limits{finalizer: time.Hour}})
			if got != test.want || !again.Equal(test.again) {
				t.Errorf("got step %d, again at %s; want step %d, again at %s", got, again, test.want, test.again)
			}
		})
	}
}

func deleted(sm *v1beta1.ScheduledMachine) {
	sm.DeletionTimestamp = &metav1.Time{Time: noon}
}

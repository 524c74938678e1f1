// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// TestPhasesWithRealMachines walks the edges between phases with Cluster API's
// own managers at work, and holds every phase that was ever shown against the
// way that is documented.
func TestPhasesWithRealMachines(t *testing.T) {
	const (
		pending, active, going = v1beta1.PhasePending, v1beta1.PhaseActive, v1beta1.PhaseShuttingDown
		inactive, disabled     = v1beta1.PhaseInactive, v1beta1.PhaseDisabled
		terminated, failed     = v1beta1.PhaseTerminated, v1beta1.PhaseError
	)
	type step struct {
		schedule string // on or off; empty to leave it
		spec     string // a patch of the spec; empty for none
		machine  string // a patch of the Machine, before the others; empty for none
		to       v1beta1.Phase
	}
	const ( // Cluster API waits with the hardware until nobody has a hook any more
		hold  = `{"metadata":{"annotations":{"pre-terminate.delete.hook.machine.cluster.x-k8s.io/test":"system.test"}}}`
		letGo = `{"metadata":{"annotations":{"pre-terminate.delete.hook.machine.cluster.x-k8s.io/test":null}}}`
	)
	for name, test := range map[string]struct {
		steps []step
		want  []v1beta1.Phase
	}{
		"a session, and the next one": {
			steps: []step{{schedule: "on", to: active}, {schedule: "off", to: inactive}, {schedule: "on", to: active}},
			want:  []v1beta1.Phase{inactive, pending, active, going, inactive, pending, active},
		},
		"disabled and enabled": {
			steps: []step{{schedule: "on", to: active}, {spec: `{"enabled":false}`, to: disabled}, {spec: `{"enabled":true}`, to: active}},
			want:  []v1beta1.Phase{inactive, pending, active, going, disabled, pending, active},
		},
		"killed and spared": {
			steps: []step{{schedule: "on", to: active}, {spec: `{"killSwitch":true}`, to: terminated}, {spec: `{"killSwitch":false}`, to: active}},
			want:  []v1beta1.Phase{inactive, pending, active, going, terminated, pending, active},
		},
		"open again while the machine goes": {
			steps: []step{
				{schedule: "on", to: active},
				{machine: hold, schedule: "off", to: going},
				{schedule: "on", to: going},
				{machine: letGo, to: active},
			},
			want: []v1beta1.Phase{inactive, pending, active, going, pending, active},
		},
		"disabled without a machine": {
			steps: []step{{spec: `{"enabled":false}`, to: disabled}, {spec: `{"killSwitch":true}`, to: terminated}, {spec: `{"enabled":true,"killSwitch":false}`, to: inactive}},
			want:  []v1beta1.Phase{inactive, disabled, terminated, inactive},
		},
		"a kind that is not there, and repaired": {
			steps: []step{
				{spec: `{"infrastructureSpec":{"kind":"NobodysMachine"}}`, to: inactive},
				{schedule: "on", to: failed},
				{spec: `{"infrastructureSpec":{"kind":"DevMachine"}}`, to: active},
			},
			want: []v1beta1.Phase{inactive, failed, pending, active},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := "phases-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")
			toggle(t, localcluster.Namespace, object, false)
			sm := machine(t, localcluster.Namespace, object, object)
			shown := watchPhases(t, sm)
			awaitPhase(t, sm, inactive)
			var machines []types.UID
			for _, step := range test.steps {
				if step.machine != "" {
					patch(t, capiMachine(t, sm), step.machine)
				}
				if step.schedule != "" {
					toggle(t, localcluster.Namespace, object, step.schedule == "on")
				}
				if step.spec != "" {
					patch(t, sm, `{"spec":`+step.spec+`}`)
				}
				awaitPhase(t, sm, step.to)
				if step.schedule != "" {
					awaitVerdict(t, sm, step.schedule == "on")
				}
				if step.to == going { // which is shown before the Machine is deleted
					awaitDeletion(t, capiMachine(t, sm))
				}
				if step.to == active {
					machines = append(machines, capiMachine(t, sm).UID)
				}
			}
			if diff := cmp.Diff(test.want, shown(sm.ResourceVersion)); diff != "" {
				t.Errorf("phases (-documented +shown):\n%s", diff)
			}
			if slices.Sort(machines); len(slices.Compact(machines)) != len(machines) {
				t.Errorf("a Machine came back: %v", machines)
			}
		})
	}
}

// awaitDeletion waits until the deletion of a Machine, which stays, is asked for.
func awaitDeletion(t *testing.T, machine *clusterv1.Machine) {
	t.Helper()
	if err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), machine, func() error {
		if machine.DeletionTimestamp == nil {
			return errWaiting
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// awaitVerdict waits until a ScheduledMachine goes by what its schedule says.
func awaitVerdict(t *testing.T, sm *v1beta1.ScheduledMachine, active bool) {
	t.Helper()
	if err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), sm, func() error {
		if sm.Status.InSchedule != active {
			return fmt.Errorf("inSchedule is %t, want %t: %s", sm.Status.InSchedule, active, sm.Status.Message)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// watchPhases returns a function that returns each phase that was shown up to a
// resource version, in order, and ends the watch.
func watchPhases(t *testing.T, sm *v1beta1.ScheduledMachine) func(until string) []v1beta1.Phase {
	t.Helper()
	events, err := localclustertest.Cluster(t).Client().Watch(deadline(t), &v1beta1.ScheduledMachineList{},
		client.InNamespace(sm.Namespace), client.MatchingFields{"metadata.name": sm.Name})
	if err != nil {
		t.Fatal(err)
	}
	type state struct {
		version string
		phase   v1beta1.Phase
	}
	states := make(chan state, 1000) // so that the watch never waits for the test
	go func() {
		defer close(states)
		for event := range events.ResultChan() {
			if seen, ok := event.Object.(*v1beta1.ScheduledMachine); ok {
				states <- state{seen.ResourceVersion, seen.Status.Phase}
			}
		}
	}()
	return func(until string) []v1beta1.Phase {
		defer events.Stop()
		var shown []v1beta1.Phase
		for state := range states {
			if state.phase != "" {
				shown = append(shown, state.phase)
			}
			if state.version == until {
				break
			}
		}
		return slices.Compact(shown)
	}
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// Cluster API ends a drain by itself when its time is over. Where the infrastructure
// goes at once, the Machine is gone before anybody sees that.
func TestADrainWhoseEndWasNotSeenIsNotTakenForDone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lasts  time.Duration
		reason string
		says   string
	}{
		"in-time":  {59 * time.Second, v1beta1.ReasonNodeDrained, "There is no Machine"},
		"too-long": {time.Minute, v1beta1.ReasonNodeDrainFailed, "There is no Machine. How the last one went: The drain was not seen to end in time; it was waiting for: pod desk/quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			sm, _ := d.up(name, func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "1m" })
			machine := d.holdMachine(name)
			d.schedule(false)
			d.awaitPhase(sm, v1beta1.PhaseShuttingDown)

			began := d.clock.Now().Truncate(time.Second)
			d.patch(machine, "status", fmt.Sprintf(`{"status":{
				"deletion":{"nodeDrainStartTime":%[1]q},
				"conditions":[{"type":"Deleting","status":"True","reason":"DrainingNode","message":"Waiting for pod desk/quotes","lastTransitionTime":%[1]q}]
			}}`, began.UTC().Format(time.RFC3339)))
			d.awaitReason(sm, v1beta1.ConditionMachineReady, v1beta1.ReasonNodeDraining)
			if deadline := sm.Status.DrainDeadline; deadline == nil || !deadline.Equal(new(metav1.NewTime(began.Add(time.Minute)))) {
				t.Errorf("the drain may last until %v, want %v", deadline, began.Add(time.Minute))
			}

			d.clock.SetTime(began.Add(test.lasts))
			d.letGo(machine)
			d.awaitPhase(sm, v1beta1.PhaseInactive)
			d.awaitEvent(name, test.reason)
			if said := condition(sm, v1beta1.ConditionMachineReady).Message; said != test.says || sm.Status.DrainDeadline != nil {
				t.Errorf("it says %q, and a drain until %v", said, sm.Status.DrainDeadline)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// TestABellStartsSoManyMachinesAtATimeByPriority has one bell for six machines of
// which two may come up at a time. A machine makes room when it is taken down.
// Half way through the controller is killed and another one begins.
func TestABellStartsSoManyMachinesAtATimeByPriority(t *testing.T) {
	const limit = 2
	d := newDesk(t, 0)
	for name, priority := range map[string]int32{"c": 10, "e": 200, "a": 50, "f": 120, "b": 50, "d": 0} {
		d.machine(name, func(sm *v1beta1.ScheduledMachine) { sm.Spec.Priority = &priority })
	}
	r := newReplicas(t, "--leader-elect", "--max-concurrent-activations=2")
	r.start("first")
	d.settle(false)
	d.flip(true)

	want := []string{"e", "f", "a", "b", "c", "d"}
	d.awaitMachines(limit)
	for i, name := range want[:len(want)-limit] {
		if i == 2 {
			r.kill("first")
			r.start("second")
			awaitLeader(t, holder(awaitLeases(t, anyLeases)["5spot-leader"]))
		}
		d.takeDown(name)
		d.awaitMachine(want[i+limit])
		d.mu.Lock()
		if len(d.exist) > limit {
			t.Errorf("%d Machines come up at a time: %v", len(d.exist), d.exist)
		}
		d.mu.Unlock()
	}
	d.awaitReference(want[len(want)-1]) // so that the log has the creation

	log := d.requests()
	byTime(log)
	var got []string
	for _, e := range log {
		if e.Namespace == d.namespace && e.Verb == "create" && e.Resource == "machines" && e.Code == http.StatusCreated {
			got = append(got, e.Name)
		}
	}
	slices.Sort(got[:limit]) // these two come at the same time
	slices.Sort(want[:limit])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order of the Machines (-want +got):\n%s", diff)
	}
}

// awaitReference waits until a ScheduledMachine has its Machine on record.
func (d *desk) awaitReference(name string) {
	d.Helper()
	sm := &v1beta1.ScheduledMachine{}
	sm.Namespace, sm.Name = d.namespace, name
	devplanetest.Await(d.T, sm, func() error {
		if sm.Status.MachineRef == nil {
			return fmt.Errorf("%s has no Machine: %s", name, sm.Status.Message)
		}
		return nil
	})
}

// takeDown disables a machine.
func (d *desk) takeDown(name string) {
	d.Helper()
	sm := &v1beta1.ScheduledMachine{}
	sm.Namespace, sm.Name = d.namespace, name
	if err := d.client.Patch(d.Context(), sm, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"enabled":false}}`))); err != nil {
		d.Fatal(err)
	}
}

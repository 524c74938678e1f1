// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane"
)

// Where Cluster API is not installed ms is ManualSchedule's alone. (Where it is,
// ms means MachineSet, whose group comes first by name.)
func TestShortNameOfManualSchedule(t *testing.T) {
	plane, err := devplane.Start(deadline(t), devplane.Options{Dir: t.TempDir(), NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	shWith(t, plane.Kubeconfig(), block(t, crdBlock), "kubectl apply -f -")
	shWith(t, plane.Kubeconfig(), "", untilServed)
	shWith(t, plane.Kubeconfig(), "", "kubectl create namespace trading")
	shWith(t, plane.Kubeconfig(), example(t, "manualschedule-desk-override.yaml"), "kubectl apply -f -")
	expect(t, table(shWith(t, plane.Kubeconfig(), "", "kubectl -n trading get ms")), "NAME ACTIVE\ndesk-override")
}

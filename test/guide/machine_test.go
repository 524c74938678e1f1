// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// scheduledMachine returns an object to be filled.
func scheduledMachine(name string) *v1beta1.ScheduledMachine {
	return &v1beta1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: localcluster.Namespace, Name: name}}
}

// createMachine makes the guide's ScheduledMachine under another name; it
// follows the ManualSchedule of that name. When the test ends both are deleted.
func createMachine(t *testing.T, name string) *v1beta1.ScheduledMachine {
	t.Helper()
	sm := &v1beta1.ScheduledMachine{}
	if err := yaml.UnmarshalStrict([]byte(guideMachine(t)), sm); err != nil {
		t.Fatal(err)
	}
	sm.Name, sm.Spec.Schedule.Name = name, name
	if err := localclustertest.Cluster(t).Client().Create(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sh(t, "kubectl -n trading delete --ignore-not-found scheduledmachine/"+name)
		installKind(t) // a test may end without
		sh(t, "kubectl -n trading delete --ignore-not-found manualschedule/"+name)
	})
	return sm
}

// createSchedule makes a ManualSchedule that is off by its spec, whatever is
// published for it: 5-Spot goes by the status.
func createSchedule(t *testing.T, name string) {
	t.Helper()
	apply(t, fmt.Sprintf(`
apiVersion: spotschedules.5spot.finos.org/v1alpha1
kind: ManualSchedule
metadata: {namespace: trading, name: %s}
spec: {enabled: false}
`, name))
}

// publish patches the status of a ManualSchedule with the rights of the guide's account.
func publish(t *testing.T, name, status string) {
	t.Helper()
	asProvider(t, fmt.Sprintf(`kubectl -n trading patch manualschedule %s --subresource=status --type=merge -p '{"status":%s}'`, name, status))
}

func awaitPhase(t *testing.T, sm *v1beta1.ScheduledMachine, phase v1beta1.Phase) {
	t.Helper()
	awaitMachine(t, sm, func() error {
		if sm.Status.Phase != phase {
			return fmt.Errorf("phase is %q, want %q: %s", sm.Status.Phase, phase, sm.Status.Message)
		}
		return nil
	})
}

// awaitResolved waits until SpotScheduleResolved has a status and a reason.
func awaitResolved(t *testing.T, sm *v1beta1.ScheduledMachine, status metav1.ConditionStatus, reason string) {
	t.Helper()
	awaitMachine(t, sm, func() error {
		condition := meta.FindStatusCondition(sm.Status.Conditions, v1beta1.ConditionSpotScheduleResolved)
		if condition == nil || condition.Status != status || condition.Reason != reason {
			return fmt.Errorf("SpotScheduleResolved is %+v, want %s for %s", condition, status, reason)
		}
		return nil
	})
}

func awaitMachine(t *testing.T, sm *v1beta1.ScheduledMachine, check func() error) {
	t.Helper()
	if err := await.Object(deadline(t), localclustertest.Cluster(t).Client(), sm, check); err != nil {
		t.Fatal(err)
	}
}

// capiMachine returns the Cluster API Machine of a ScheduledMachine.
func capiMachine(t *testing.T, sm *v1beta1.ScheduledMachine) *clusterv1.Machine {
	t.Helper()
	machine := &clusterv1.Machine{}
	if err := localclustertest.Cluster(t).Client().Get(t.Context(), client.ObjectKeyFromObject(sm), machine); err != nil {
		t.Fatal(err)
	}
	return machine
}

// checkNothingIsLeft checks that no object of a ScheduledMachine exists.
func checkNothingIsLeft(t *testing.T, name string) {
	t.Helper()
	expect(t, sh(t, "kubectl -n trading get machines,kubeadmconfigs,devmachines --ignore-not-found -o name "+
		"-l 5spot.finos.org/scheduled-machine="+name), "")
}

func checkNodeIsReady(t *testing.T, node string) {
	t.Helper()
	expect(t, inWorkloadCluster(t, "kubectl get node/"+node+` -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'`), "True")
}

func checkNoNode(t *testing.T, node string) {
	t.Helper()
	expect(t, inWorkloadCluster(t, "kubectl get node/"+node+" --ignore-not-found -o name"), "")
}

// inWorkloadCluster runs commands as the administrator of the workload cluster.
func inWorkloadCluster(t *testing.T, commands string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := sh(t, `kubectl -n trading get secret/trading-kubeconfig -o go-template='{{.data.value | base64decode}}'`)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return shWith(t, kubeconfig, "", commands)
}

// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	schedulesv1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
)

// Machine makes a ScheduledMachine in the cluster, and a ManualSchedule of the
// same name that is on. It waits for nothing.
func (c *Cluster) Machine(t testing.TB, name string, changes ...func(*v1beta1.ScheduledMachine)) *v1beta1.ScheduledMachine {
	t.Helper()
	c.create(t, &schedulesv1.ManualSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
		Spec:       schedulesv1.ManualScheduleSpec{Enabled: true},
	})
	sm := &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name},
		Spec: v1beta1.ScheduledMachineSpec{
			Schedule:    v1beta1.ScheduleReference{APIVersion: contract.Group + "/v1alpha1", Kind: "ManualSchedule", Name: name},
			ClusterName: ClusterName,
			BootstrapSpec: v1beta1.EmbeddedObject{
				APIVersion: rackConfigKind.GroupVersion().String(), Kind: rackConfigKind.Kind,
				Spec: runtime.RawExtension{Raw: []byte(`{}`)},
			},
			InfrastructureSpec: v1beta1.EmbeddedObject{
				APIVersion: rackMachineKind.GroupVersion().String(), Kind: rackMachineKind.Kind,
				Spec: runtime.RawExtension{Raw: []byte(`{}`)},
			},
		},
	}
	for _, change := range changes {
		change(sm)
	}
	c.create(t, sm)
	return sm
}

// NeverJoins makes hardware whose node never comes.
func NeverJoins(sm *v1beta1.ScheduledMachine) {
	sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"neverJoins":true}`)
}

// NeverSwitchesOff makes hardware that cannot be switched off.
func NeverSwitchesOff(sm *v1beta1.ScheduledMachine) {
	sm.Spec.InfrastructureSpec.Spec.Raw = []byte(`{"neverSwitchesOff":true}`)
}

// Toggle switches the ManualSchedule of a ScheduledMachine.
func (c *Cluster) Toggle(t testing.TB, sm *v1beta1.ScheduledMachine, enabled bool) {
	t.Helper()
	schedule := &schedulesv1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: sm.Namespace, Name: sm.Name}}
	Patch(t, c.Client(), schedule, fmt.Sprintf(`{"spec":{"enabled":%t}}`, enabled))
}

// Patch changes an object by a JSON merge patch.
func Patch(t testing.TB, on client.Client, o client.Object, merge string) {
	t.Helper()
	if err := on.Patch(Context(t), o, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		t.Fatal(err)
	}
}

// Await waits until check of a ScheduledMachine returns nil; sm is then as it was seen last.
func (c *Cluster) Await(t testing.TB, sm *v1beta1.ScheduledMachine, check func() error) {
	t.Helper()
	if err := await.Object(Context(t), c.Client(), sm, check); err != nil {
		t.Fatal(err)
	}
}

// AwaitPhase waits until a ScheduledMachine is in a phase.
func (c *Cluster) AwaitPhase(t testing.TB, sm *v1beta1.ScheduledMachine, phase v1beta1.Phase) {
	t.Helper()
	c.Await(t, sm, func() error {
		if sm.Status.Phase != phase {
			return fmt.Errorf("phase is %q, want %q: %s", sm.Status.Phase, phase, sm.Status.Message)
		}
		return nil
	})
}

// AwaitNode waits until a ScheduledMachine is Active and returns its node as
// the workload cluster has it.
func (c *Cluster) AwaitNode(t testing.TB, sm *v1beta1.ScheduledMachine) *corev1.Node {
	t.Helper()
	c.AwaitPhase(t, sm, v1beta1.PhaseActive)
	node := &corev1.Node{}
	if err := c.workload.client.Get(Context(t), client.ObjectKey{Name: sm.Status.NodeRef.Name}, node); err != nil {
		t.Fatal(err)
	}
	return node
}

// CAPIMachine returns the Cluster API Machine of a ScheduledMachine, which must exist.
func (c *Cluster) CAPIMachine(t testing.TB, sm *v1beta1.ScheduledMachine) *clusterv1.Machine {
	t.Helper()
	machine := &clusterv1.Machine{}
	if err := c.Client().Get(Context(t), client.ObjectKeyFromObject(sm), machine); err != nil {
		t.Fatal(err)
	}
	return machine
}

// AwaitGone waits until an object of the management cluster does not exist.
func (c *Cluster) AwaitGone(t testing.TB, o client.Object) {
	t.Helper()
	if err := await.Gone(Context(t), c.Client(), o); err != nil {
		t.Fatal(err)
	}
}

// AwaitNodeGone waits until the workload cluster has no such node.
func (c *Cluster) AwaitNodeGone(t testing.TB, node *corev1.Node) {
	t.Helper()
	if err := await.Gone(Context(t), c.workload.client, node); err != nil {
		t.Fatal(err)
	}
}

// RackMachine returns the hardware of a ScheduledMachine, which must exist.
func (c *Cluster) RackMachine(t testing.TB, sm *v1beta1.ScheduledMachine) client.Object {
	t.Helper()
	machine := object(rackMachineKind)
	if err := c.Client().Get(Context(t), client.ObjectKeyFromObject(sm), machine); err != nil {
		t.Fatal(err)
	}
	return machine
}

// SwitchOff switches hardware off that could not be.
func (c *Cluster) SwitchOff(t testing.TB, sm *v1beta1.ScheduledMachine) {
	t.Helper()
	Patch(t, c.Client(), c.RackMachine(t, sm), `{"spec":{"neverSwitchesOff":false}}`)
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// trap is a machine that runs in a cluster without any control plane that Cluster
// API knows of, with a pod on its node. The management cluster stands for the
// workload cluster, and a finalizer of the test for Cluster API.
type trap struct {
	*desk
	name    string
	sm      *v1beta1.ScheduledMachine
	machine *unstructured.Unstructured
	node    *corev1.Node
	pod     *corev1.Pod
}

func newTrap(t *testing.T, name string) *trap {
	t.Helper()
	d := newDesk(t)
	controlPlane := d.object(machineKind, "trading-control-plane")
	d.remove(controlPlane)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: devplanetest.Namespace(t), Name: "quotes"}, // which stays when the desk's goes
		Spec: corev1.PodSpec{
			NodeName: node.Name, Containers: []corev1.Container{{Name: "quotes", Image: "quotes"}},
			TerminationGracePeriodSeconds: new(int64(600)),
		},
	}
	for _, object := range []client.Object{node, pod} {
		if err := d.client.Create(d.Context(), object); err != nil {
			d.Fatal(err)
		}
	}
	d.afterwards(func(ctx context.Context) { _ = d.client.Delete(ctx, node) })
	made := &trap{desk: d, name: name, node: node, pod: pod}
	made.sm, _ = d.up(name)
	made.machine = d.holdMachine(name)
	made.awaitHeld(true)
	return made
}

func (d *desk) remove(object client.Object) {
	d.Helper()
	if err := d.client.Delete(d.Context(), object); err != nil {
		d.Fatal(err)
	}
}

// awaitHeld waits until the Machine has Cluster API wait for us, or no longer has.
func (d *trap) awaitHeld(held bool) {
	d.Helper()
	devplanetest.Await(d.T, d.machine, func() error {
		if _, is := d.machine.GetAnnotations()[capi.HoldAnnotation]; is != held {
			return fmt.Errorf("annotations %v", d.machine.GetAnnotations())
		}
		return nil
	})
}

// awaitEviction waits until the pod was asked to go, and checks that the Machine
// waits for that.
func (d *trap) awaitEviction() {
	d.Helper()
	devplanetest.Await(d.T, d.pod, func() error {
		if d.pod.DeletionTimestamp == nil {
			return fmt.Errorf("the pod was not asked to go: %s", d.sm.Status.Message)
		}
		return nil
	})
	d.awaitReason(d.sm, v1beta1.ConditionMachineReady, v1beta1.ReasonNodeDraining)
	if err := d.client.Get(d.Context(), client.ObjectKeyFromObject(d.machine), d.machine); err != nil || d.machine.GetDeletionTimestamp() == nil {
		d.Fatalf("the Machine is not even being deleted: %v", err)
	}
	d.awaitHeld(true)
}

// endPod ends the pod, as its kubelet does, and has the drain look again.
func (d *trap) endPod() {
	d.Helper()
	if err := d.client.Delete(d.Context(), d.pod, client.GracePeriodSeconds(0)); err != nil {
		d.Fatal(err)
	}
	devplanetest.AwaitGone(d.T, d.pod)
	d.clock.Step(5 * time.Second)
}

// awaitSwitchedOff goes on as Cluster API does once it need no longer wait, and
// waits until the Node, which it leaves, is gone.
func (d *trap) awaitSwitchedOff() {
	d.Helper()
	d.awaitHeld(false)
	d.letGo(d.machine)
	devplanetest.AwaitGone(d.T, d.node)
}

func (d *trap) checkNotEvicted() {
	d.Helper()
	if err := d.client.Get(d.Context(), client.ObjectKeyFromObject(d.pod), d.pod); err != nil || d.pod.DeletionTimestamp != nil {
		d.Errorf("the pod was asked to go: %v", err)
	}
}

func TestANodeThatClusterAPIWouldNotDrainIsDrained(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "trapped")
	d.schedule(false)
	d.awaitEviction()
	d.await(d.sm, func() error {
		if !strings.Contains(d.sm.Status.Message, d.pod.Namespace+"/quotes") {
			return fmt.Errorf("the message does not name the pod: %s", d.sm.Status.Message)
		}
		return nil
	})
	if d.sm.Status.Phase != v1beta1.PhaseShuttingDown || d.sm.Status.DrainStartTime == nil {
		t.Errorf("phase %s, drainStartTime %v", d.sm.Status.Phase, d.sm.Status.DrainStartTime)
	}
	if err := d.client.Get(t.Context(), client.ObjectKeyFromObject(d.node), d.node); err != nil || !d.node.Spec.Unschedulable {
		t.Errorf("the node is not cordoned: %v", err)
	}

	d.endPod()
	d.awaitSwitchedOff()
	d.awaitPhase(d.sm, v1beta1.PhaseInactive)
	if d.sm.Status.NodeRef != nil || d.sm.Status.DrainStartTime != nil {
		t.Errorf("afterwards nodeRef is %v and drainStartTime %v", d.sm.Status.NodeRef, d.sm.Status.DrainStartTime)
	}
	d.awaitEvent("trapped", v1beta1.ReasonNodeDrained)
}

func TestADrainOfOurOwnIsBounded(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "bounded")
	d.patch(d.sm, "", `{"spec":{"nodeDrainTimeout":"1m"}}`)
	d.schedule(false)
	d.awaitEviction()
	d.clock.SetTime(d.sm.Status.DrainStartTime.Add(time.Minute))
	d.awaitSwitchedOff()
	d.awaitEvent("bounded", v1beta1.ReasonNodeDrainFailed)
	d.awaitPhase(d.sm, v1beta1.PhaseInactive)
}

func TestANodeIsDeletedHoweverLongItsHardwareTakesToGo(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "slow")
	d.schedule(false)
	d.awaitEviction()
	d.endPod()
	d.awaitHeld(false)
	d.clock.Step(time.Hour)
	d.awaitSwitchedOff()
	d.awaitPhase(d.sm, v1beta1.PhaseInactive)
}

func TestAKillSwitchDrainsNothing(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "killed")
	d.patch(d.sm, "", `{"spec":{"killSwitch":true}}`)
	d.awaitSwitchedOff() // with the Node, which Cluster API would leave
	d.awaitPhase(d.sm, v1beta1.PhaseTerminated)
	d.checkNotEvicted()
}

func TestAKillSwitchEndsADrain(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "ended")
	d.schedule(false)
	d.awaitEviction()
	d.patch(d.sm, "", `{"spec":{"killSwitch":true}}`)
	d.awaitSwitchedOff()
	d.awaitPhase(d.sm, v1beta1.PhaseTerminated)
}

func TestAMachineThatFailedIsDrainedBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "failed")
	d.patch(d.machine, "status", `{"status":{"phase":"Failed","deprecated":{"v1beta1":{"failureReason":"UpdateError","failureMessage":"the rack caught fire"}}}}`)
	d.awaitReason(d.sm, v1beta1.ConditionReady, v1beta1.ReasonMachineFailed)
	d.clock.SetTime(d.sm.Status.MachineFailures.ReplaceTime.Time)
	d.awaitEviction()
	d.endPod()
	d.awaitSwitchedOff()
	d.awaitAnotherMachine()
	d.awaitEvent("failed", v1beta1.ReasonMachineReplaced)
}

// awaitAnotherMachine waits for the next Machine.
func (d *trap) awaitAnotherMachine() {
	d.Helper()
	next := d.object(machineKind, d.name)
	devplanetest.Await(d.T, next, func() error {
		if next.GetUID() == d.machine.GetUID() {
			return errWaiting
		}
		return nil
	})
}

// What deletes a Machine, and a whole namespace, is not always us.
func TestAMachineThatSomebodyElseDeletesIsDrained(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "deleted")
	d.remove(d.machine)
	d.awaitEviction()
	d.endPod()
	d.awaitSwitchedOff()
	d.awaitAnotherMachine()
}

func TestPodsAreAskedToGoWhenTheNamespaceOfTheirMachineIsDeleted(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "swept")
	d.patch(d.object(infrastructureKind, "swept"), "", `{"metadata":{"finalizers":["test.example.com/hold"]}}`)
	d.remove(namespaceNamed(d.namespace))
	devplanetest.Await(t, d.pod, func() error { // though nobody waits for it, since the hardware goes as well
		if d.pod.DeletionTimestamp == nil {
			return errWaiting
		}
		return nil
	})
	d.awaitHeld(false)
	d.awaitReason(d.sm, v1beta1.ConditionMachineReady, v1beta1.ReasonNodeDrainFailed)
	d.awaitGone(clusterKind, "trading") // so that nothing says any more whose Node it is
	d.awaitSwitchedOff()
	d.patch(d.object(infrastructureKind, "swept"), "", `{"metadata":{"finalizers":null}}`)
	devplanetest.AwaitGone(t, d.sm)
}

func TestAMachineIsHeldNoLongerThanClusterAPIWouldNotDrainIt(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "rescued")
	d.controlPlaneMachine()
	d.awaitHeld(false)
	d.checkNotEvicted()
}

func TestAMachineIsNotHeldForAScheduledMachineThatIsGone(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "orphan")
	d.remove(d.sm)
	d.awaitEviction()
	d.patch(d.sm, "", `{"metadata":{"finalizers":null}}`)
	d.awaitHeld(false)
}

func TestAMachineIsNotHeldForAScheduledMachineThatIsLetGo(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "abandoned")
	d.remove(d.sm)
	d.awaitEviction()
	d.passBound(func() {})
	d.awaitHeld(false)
	d.awaitEvent("abandoned", v1beta1.ReasonFinalizerCleanupTimedOut)
	devplanetest.AwaitGone(t, d.sm)
}

// passBound goes to after the finalizer's bound, while the controller does not run,
// so that not the drain's own bound ends it. What else happens meanwhile is done then.
func (d *trap) passBound(meanwhile func()) {
	d.Helper()
	d.stop()
	meanwhile()
	d.clock.SetTime(d.sm.DeletionTimestamp.Add(time.Hour))
	d.start()
}

// orphaned has the ScheduledMachine go without having let its Machine go, while no
// controller is at work.
func (d *trap) orphaned() {
	d.Helper()
	d.stop()
	d.remove(d.sm)
	d.patch(d.sm, "", `{"metadata":{"finalizers":null}}`)
	devplanetest.AwaitGone(d.T, d.sm)
}

func TestAMachineIsNotHeldForAScheduledMachineThatWentWhileNoControllerRan(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "unseen")
	d.orphaned()
	d.start()
	d.awaitHeld(false)
}

func TestAMachineIsNotHeldForAnEarlierScheduledMachineOfItsName(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "again")
	d.orphaned()
	d.sm = d.desk.machine("again")
	d.start()
	d.awaitHeld(false)
	d.letGo(d.machine)
	d.awaitAnotherMachine()
}

func TestAScheduledMachineIsLetGoThoughItsMachineCannotBeWritten(t *testing.T) {
	t.Parallel()
	d := newTrap(t, "refused")
	d.remove(d.sm)
	d.awaitEviction()
	d.passBound(func() { d.refuseWritesOfMachines(d.machine) })
	devplanetest.AwaitGone(t, d.sm)
	d.awaitEvent("refused", v1beta1.ReasonFinalizerCleanupTimedOut)
}

// refuseWritesOfMachines has the API server refuse the controller's updates of
// Machines in the namespace, as it does while a webhook of Cluster API's is away.
func (d *desk) refuseWritesOfMachines(machine *unstructured.Unstructured) {
	d.Helper()
	name := "refuse-" + d.namespace
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": d.namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"cluster.x-k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"machines"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"example.com/try":""}}}`))
	await := func(ctx context.Context, refused bool) error { // a policy comes and goes without telling
		return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			err := d.client.Patch(ctx, machine.DeepCopy(), label, client.DryRunAll)
			return refused == (client.IgnoreNotFound(err) != nil), nil
		})
	}
	d.afterwards(func(ctx context.Context) { _ = await(ctx, false) })
	for _, object := range []client.Object{policy, binding} {
		if err := d.client.Create(d.Context(), object); err != nil {
			d.Fatal(err)
		}
		d.afterwards(func(ctx context.Context) { _ = d.client.Delete(ctx, object) })
	}
	if err := await(devplanetest.Context(d.T), true); err != nil {
		d.Fatal(err)
	}
}

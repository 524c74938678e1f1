// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/activation"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/controller/scheduledmachine"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// longAgo is where the clock of these tests stands: no deadline that the API
// server's own clock sets has come yet.
var longAgo = time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)

// desk is a namespace with a controller of its own, a schedule named "desk" and
// whatever a test adds.
type desk struct {
	*testing.T
	plane     *devplane.Plane
	client    client.WithWatch
	namespace string
	clock     *clocktesting.FakeClock
	gate      *activation.Gate
	metrics   *prometheus.Registry // of the controller that was started last
	stop      func()
}

// newDesk starts a controller that works on a new namespace only.
func newDesk(t *testing.T) *desk {
	t.Helper()
	return newDeskOn(t, devplanetest.Plane(t), devplanetest.LastingNamespace(t))
}

func newDeskOn(t *testing.T, plane *devplane.Plane, namespace string) *desk {
	t.Helper()
	d := &desk{
		T: t, plane: plane, client: devplanetest.ClientFor(t, plane.Config()),
		namespace: namespace, clock: clocktesting.NewFakeClock(longAgo),
	}
	d.cluster()
	d.controlPlaneMachine()
	d.start()
	return d
}

// afterwards calls a function when the test is over, and with it the test's own context.
func (d *desk) afterwards(do func(context.Context)) {
	d.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context()), devplanetest.Patience)
		defer cancel()
		do(ctx)
	})
}

// cluster makes the Cluster that the machines join. A control plane object comes
// with a test that needs one.
func (d *desk) cluster() {
	d.Helper()
	cluster := d.object(clusterKind, "trading")
	cluster.Object["spec"] = map[string]any{"infrastructureRef": map[string]any{
		"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": "trading",
	}}
	if err := d.client.Create(d.Context(), cluster); err != nil {
		d.Fatal(err)
	}
}

// controlPlaneMachine makes a Machine of the cluster's control plane, without
// which Cluster API would drain nothing.
func (d *desk) controlPlaneMachine() {
	d.Helper()
	controlPlane := d.object(machineKind, "trading-control-plane")
	controlPlane.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "trading", "cluster.x-k8s.io/control-plane": ""})
	controlPlane.Object["spec"] = map[string]any{
		"clusterName":       "trading",
		"bootstrap":         map[string]any{"dataSecretName": "none"},
		"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": "trading-control-plane"},
	}
	if err := d.client.Create(d.Context(), controlPlane); err != nil {
		d.Fatal(err)
	}
}

// start runs the controller as its own service account; restart first if it runs.
func (d *desk) start() {
	d.Helper()
	config, err := d.plane.ServiceAccountConfig(d.Context(), "5spot-system", "5spot-controller")
	if err != nil {
		d.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(d.Context()))
	mgr, err := manager.New(config, d.managerOptions())
	if err != nil {
		d.Fatal(err)
	}
	d.metrics = prometheus.NewRegistry()
	options := scheduledmachine.Options{Clock: clock.WithTicker(d.clock), Gate: d.gate, Metrics: d.metrics}
	if err := scheduledmachine.Setup(ctx, mgr, options); err != nil {
		d.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	d.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			d.Errorf("the controller ended with: %v", err)
		}
	}
	d.Cleanup(d.stop)
}

func (d *desk) managerOptions() manager.Options {
	return manager.Options{
		Scheme:     d.client.Scheme(),
		Client:     scheduledmachine.ClientOptions(),
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{d.namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
}

// restart stops the controller and starts another one.
func (d *desk) restart() {
	d.Helper()
	d.stop()
	d.start()
}

// schedule makes the schedule "desk", or sets what its provider says.
func (d *desk) schedule(active bool) {
	d.Helper()
	d.scheduleStatus(fmt.Sprintf(`{"active":%v,"observedGeneration":1,"conditions":null}`, active))
}

// scheduleStatus sets the whole status of the schedule "desk".
func (d *desk) scheduleStatus(status string) {
	d.Helper()
	s := &spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "desk"}}
	if err := d.client.Create(d.Context(), s); client.IgnoreAlreadyExists(err) != nil {
		d.Fatal(err)
	}
	d.patch(s, "status", `{"status":`+status+`}`)
}

// machine makes a ScheduledMachine that follows "desk".
func (d *desk) machine(name string, changes ...func(*v1beta1.ScheduledMachine)) *v1beta1.ScheduledMachine {
	d.Helper()
	raw := func(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }
	sm := &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: name},
		Spec: v1beta1.ScheduledMachineSpec{
			Schedule:           v1beta1.ScheduleReference{APIVersion: "spotschedules.5spot.finos.org/v1alpha1", Kind: "ManualSchedule", Name: "desk"},
			ClusterName:        "trading",
			BootstrapSpec:      v1beta1.EmbeddedObject{APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig", Spec: raw(`{"format":"cloud-config"}`)},
			InfrastructureSpec: v1beta1.EmbeddedObject{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine", Spec: raw(`{"backend":{"inMemory":{}}}`)},
		},
	}
	for _, change := range changes {
		change(sm)
	}
	if err := d.client.Create(d.Context(), sm); err != nil {
		d.Fatal(err)
	}
	return sm
}

// patch merges into an object, or into its subresource when one is named.
func (d *desk) patch(object client.Object, subresource, patch string) {
	d.Helper()
	raw := client.RawPatch(types.MergePatchType, []byte(patch))
	var err error
	if subresource == "" {
		err = d.client.Patch(d.Context(), object, raw)
	} else {
		err = d.client.SubResource(subresource).Patch(d.Context(), object, raw)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// await waits until the ScheduledMachine is as check wants it.
func (d *desk) await(sm *v1beta1.ScheduledMachine, check func() error) {
	d.Helper()
	devplanetest.Await(d.T, sm, check)
}

// awaitPhase waits for a phase.
func (d *desk) awaitPhase(sm *v1beta1.ScheduledMachine, phase v1beta1.Phase) {
	d.Helper()
	d.await(sm, func() error {
		if sm.Status.Phase != phase {
			return fmt.Errorf("phase is %q, want %q: %s", sm.Status.Phase, phase, sm.Status.Message)
		}
		return nil
	})
}

// awaitReason waits until a condition has a reason.
func (d *desk) awaitReason(sm *v1beta1.ScheduledMachine, condition, reason string) *metav1.Condition {
	d.Helper()
	var found *metav1.Condition
	d.await(sm, func() error {
		found = meta.FindStatusCondition(sm.Status.Conditions, condition)
		if found == nil || found.Reason != reason {
			return fmt.Errorf("condition %s is %+v, want reason %s", condition, found, reason)
		}
		return nil
	})
	return found
}

// condition returns a condition of the status; one without a type if there is none.
func condition(sm *v1beta1.ScheduledMachine, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(sm.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// awaitEvent waits for an event with a reason about the ScheduledMachine of a name.
func (d *desk) awaitEvent(name, reason string) {
	d.Helper()
	events, err := d.client.Watch(devplanetest.Context(d.T), &eventsv1.EventList{}, client.InNamespace(d.namespace))
	if err != nil {
		d.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		told, ok := event.Object.(*eventsv1.Event)
		if ok && told.Regarding.Name == name && told.Reason == reason {
			return
		}
	}
	d.Fatalf("there was no event %s about %s", reason, name)
}

var (
	clusterKind        = metav1.TypeMeta{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster"}
	machineKind        = metav1.TypeMeta{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine"}
	bootstrapKind      = metav1.TypeMeta{APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig"}
	infrastructureKind = metav1.TypeMeta{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine"}
)

// object returns an empty object of a kind with a name in the desk's namespace.
func (d *desk) object(kind metav1.TypeMeta, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(kind.APIVersion)
	u.SetKind(kind.Kind)
	u.SetNamespace(d.namespace)
	u.SetName(name)
	return u
}

// awaitObject waits until an object exists and returns it.
func (d *desk) awaitObject(kind metav1.TypeMeta, name string) *unstructured.Unstructured {
	d.Helper()
	u := d.object(kind, name)
	devplanetest.Await(d.T, u, func() error { return nil })
	return u
}

func (d *desk) awaitGone(kind metav1.TypeMeta, name string) {
	d.Helper()
	devplanetest.AwaitGone(d.T, d.object(kind, name))
}

// awaitDeleted waits until the deletion of a Machine, which stays, is asked for: the
// phase is ShuttingDown before that.
func (d *desk) awaitDeleted(name string) *unstructured.Unstructured {
	d.Helper()
	machine := d.object(machineKind, name)
	devplanetest.Await(d.T, machine, func() error {
		if machine.GetDeletionTimestamp() == nil {
			return errWaiting
		}
		return nil
	})
	return machine
}

// holdMachine puts a finalizer on a Machine, as Cluster API does while a
// machine takes its time to go.
func (d *desk) holdMachine(name string) *unstructured.Unstructured {
	d.Helper()
	machine := d.awaitObject(machineKind, name)
	d.patch(machine, "", `{"metadata":{"finalizers":["test.example.com/hold"]}}`)
	return machine
}

func (d *desk) letGo(machine *unstructured.Unstructured) {
	d.Helper()
	d.patch(machine, "", `{"metadata":{"finalizers":null}}`)
}

// runMachine has a Machine report what Cluster API reports of one that runs.
func (d *desk) runMachine(name string) *unstructured.Unstructured {
	d.Helper()
	machine := d.awaitObject(machineKind, name)
	status, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase":          "Running",
		"initialization": map[string]any{"bootstrapDataSecretCreated": true, "infrastructureProvisioned": true},
		"nodeRef":        map[string]any{"name": "node-" + name},
		"conditions": []metav1.Condition{{
			Type: "NodeReady", Status: "True", Reason: "NodeReady", LastTransitionTime: metav1.NewTime(longAgo),
		}},
	}})
	if err != nil {
		d.Fatal(err)
	}
	d.patch(machine, "status", string(status))
	return machine
}

// up makes a ScheduledMachine whose machine runs.
func (d *desk) up(name string, changes ...func(*v1beta1.ScheduledMachine)) (*v1beta1.ScheduledMachine, *unstructured.Unstructured) {
	d.Helper()
	d.schedule(true)
	sm := d.machine(name, changes...)
	machine := d.runMachine(name)
	d.awaitPhase(sm, v1beta1.PhaseActive)
	return sm, machine
}

var errWaiting = errors.New("not yet")

func namespaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// awaitOn waits on the desk's own control plane.
func awaitOn(d *desk, sm *v1beta1.ScheduledMachine, check func() error) error {
	d.Helper()
	return await.Object(devplanetest.Context(d.T), d.client, sm, check)
}

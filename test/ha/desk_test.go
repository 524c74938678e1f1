// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

var machineKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}

// desk is a namespace with machines that follow one schedule, the bell.
type desk struct {
	*testing.T
	client    client.WithWatch
	namespace string
	machines  []*v1beta1.ScheduledMachine
	audit     *devplane.AuditReader

	mu sync.Mutex
	// exist has the UIDs of Machines that exist, created and deleted how many have come and gone, by name.
	exist            map[string]types.UID
	created, deleted map[string]int
	changed          chan struct{}
}

func newDesk(t *testing.T, machines int) *desk {
	t.Helper()
	d := &desk{
		T: t, client: devplanetest.Client(t), namespace: devplanetest.Namespace(t),
		audit: devplane.OpenAuditLog(devplanetest.Plane(t).AuditLog()),
		exist: map[string]types.UID{}, created: map[string]int{}, deleted: map[string]int{},
		changed: make(chan struct{}, 1),
	}
	t.Cleanup(func() {
		if err := d.audit.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := d.audit.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	d.create(d.object(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}, "trading", map[string]any{
		"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": "trading"},
	}))
	d.create(&spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "bell"}})
	d.flip(false)
	d.follow()
	for i := range machines {
		d.machine(fmt.Sprintf("rack-%02d", i))
	}
	return d
}

func (d *desk) create(object client.Object) {
	d.Helper()
	if err := d.client.Create(d.Context(), object); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) object(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(d.namespace)
	u.SetName(name)
	return u
}

func (d *desk) machine(name string, changes ...func(*v1beta1.ScheduledMachine)) {
	d.Helper()
	raw := func(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }
	sm := &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: name},
		Spec: v1beta1.ScheduledMachineSpec{
			Schedule:           v1beta1.ScheduleReference{APIVersion: "spotschedules.5spot.finos.org/v1alpha1", Kind: "ManualSchedule", Name: "bell"},
			ClusterName:        "trading",
			BootstrapSpec:      v1beta1.EmbeddedObject{APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig", Spec: raw(`{"format":"cloud-config"}`)},
			InfrastructureSpec: v1beta1.EmbeddedObject{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine", Spec: raw(`{"backend":{"inMemory":{}}}`)},
		},
	}
	for _, change := range changes {
		change(sm)
	}
	d.create(sm)
	d.machines = append(d.machines, sm)
}

// flip says what the bell's provider says.
func (d *desk) flip(active bool) {
	d.Helper()
	bell := &spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: "bell"}}
	status := fmt.Sprintf(`{"status":{"active":%v,"observedGeneration":1}}`, active)
	if err := d.client.Status().Patch(d.Context(), bell, client.RawPatch(types.MergePatchType, []byte(status))); err != nil {
		d.Fatal(err)
	}
}

// follow counts the Machines that come and go, by the API server's own account.
func (d *desk) follow() {
	d.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(machineKind.GroupVersion().WithKind("MachineList"))
	ctx, cancel := context.WithCancel(d.Context())
	d.Cleanup(cancel)
	changes, err := d.client.Watch(ctx, list, client.InNamespace(d.namespace))
	if err != nil {
		d.Fatal(err)
	}
	go func() {
		for event := range changes.ResultChan() {
			machine, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return
			}
			d.mu.Lock()
			switch name := machine.GetName(); event.Type {
			case watch.Added:
				d.exist[name] = machine.GetUID()
				d.created[name]++
			case watch.Deleted:
				delete(d.exist, name)
				d.deleted[name]++
			case watch.Modified, watch.Bookmark, watch.Error:
			}
			d.mu.Unlock()
			select {
			case d.changed <- struct{}{}:
			default:
			}
		}
	}()
}

// awaitMachines waits until as many Machines exist.
func (d *desk) awaitMachines(n int) {
	d.Helper()
	d.awaitExist(func() error {
		if len(d.exist) != n {
			return fmt.Errorf("there are %d Machines, want %d", len(d.exist), n)
		}
		return nil
	})
}

// awaitMachine waits until a Machine of this name exists.
func (d *desk) awaitMachine(name string) {
	d.Helper()
	d.awaitExist(func() error {
		if d.exist[name] == "" {
			return fmt.Errorf("there is no Machine %s", name)
		}
		return nil
	})
}

func (d *desk) awaitExist(check func() error) {
	d.Helper()
	ctx := devplanetest.Context(d.T)
	for {
		d.mu.Lock()
		problem := check()
		d.mu.Unlock()
		if problem == nil {
			return
		}
		select {
		case <-d.changed:
		case <-ctx.Done():
			d.Fatal(problem)
		}
	}
}

// settle waits until every machine is as the bell says, and that is written down.
func (d *desk) settle(active bool) {
	d.Helper()
	want, phase := 0, v1beta1.PhaseInactive
	if active {
		want, phase = len(d.machines), v1beta1.PhasePending
	}
	d.awaitMachines(want)
	for _, sm := range d.machines {
		devplanetest.Await(d.T, sm, func() error {
			if sm.Status.Phase != phase {
				return fmt.Errorf("%s is %q, want %q: %s", sm.Name, sm.Status.Phase, phase, sm.Status.Message)
			}
			return nil
		})
	}
}

// requests returns what was asked of the API server since the last call, by
// when it was received.
func (d *desk) requests() []devplane.AuditEvent {
	d.Helper()
	events, err := devplanetest.Plane(d.T).AuditUntilNow(devplanetest.Context(d.T), d.audit)
	if err != nil {
		d.Fatal(err)
	}
	return events
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
)

const ownUID = types.UID("own")

func rack(changes ...func(*v1beta1.ScheduledMachine)) *v1beta1.ScheduledMachine {
	sm := &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "trading", Name: "rack", UID: ownUID, Generation: 4},
		Spec: v1beta1.ScheduledMachineSpec{
			Schedule:                v1beta1.ScheduleReference{Kind: "ManualSchedule", Name: "desk"},
			ClusterName:             "desk",
			BootstrapSpec:           v1beta1.EmbeddedObject{APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig"},
			InfrastructureSpec:      v1beta1.EmbeddedObject{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine"},
			GracefulShutdownTimeout: "5m",
		},
	}
	for _, change := range changes {
		change(sm)
	}
	return sm
}

// absent returns the piece of an installed kind without an object.
func absent(kind string) piece {
	group := map[string]string{
		"Machine": capi.MachineKind.Group, "KubeadmConfig": "bootstrap.cluster.x-k8s.io", "DevMachine": "infrastructure.cluster.x-k8s.io",
	}[kind]
	return piece{
		kind:    kinds.Kind{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Served: []string{"v1beta2"}, Storage: "v1beta2"},
		version: "v1beta2",
	}
}

// present returns the piece of an object; a deletion time makes it one that is going.
func present(kind string, ours bool, deleted time.Time, machine *capi.MachineState) piece {
	p := absent(kind)
	p.ours = ours
	p.child = &child{ObjectMeta: metav1.ObjectMeta{UID: types.UID(kind), CreationTimestamp: metav1.NewTime(noon.Add(-2 * time.Minute))}}
	if kind == "Machine" {
		if machine == nil {
			machine = &capi.MachineState{}
		}
		if machine.DrainTimeout == nil {
			machine.DrainTimeout = new(defaultShutdownTimeout)
		}
		machine.DeletedAt = deleted
		p.child.machine = machine
	}
	if !deleted.IsZero() {
		p.child.DeletionTimestamp = &metav1.Time{Time: deleted}
	}
	return p
}

// nothing returns an observation in which no object exists.
func nothing() *observation {
	return &observation{machine: absent("Machine"), bootstrap: absent("KubeadmConfig"), infrastructure: absent("DevMachine")}
}

// whole returns an observation in which all three objects exist.
func whole(machine *capi.MachineState, deleted time.Time) *observation {
	return &observation{
		machine:        present("Machine", true, deleted, machine),
		bootstrap:      present("KubeadmConfig", true, time.Time{}, nil),
		infrastructure: present("DevMachine", true, time.Time{}, nil),
	}
}

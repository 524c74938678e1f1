// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/workload"
)

// changeSchedule has a schedule say something.
func (w *world) changeSchedule(t *rapid.T) {
	says := reading(rapid.SampledFrom([]contract.State{contract.Active, contract.Inactive, contract.Unresolved}).Draw(t, "says"))
	if rapid.Bool().Draw(t, "with a next change") {
		says.NextTransition = w.clock.Now().Add(time.Duration(rapid.Int64Range(0, int64(40*time.Minute)).Draw(t, "in")))
	}
	if rapid.IntRange(0, 3).Draw(t, "it is the other one") == 3 {
		w.other = says
	} else {
		w.reading = says
	}
}

// changeSpec has the user do something, of which the controller's cache may not know yet.
func (w *world) changeSpec(t *rapid.T) {
	watched, known := w.watched, w.known
	switch rapid.IntRange(0, 19).Draw(t, "deletes, and takes our finalizer away") {
	case 18:
		w.delete()
		w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Finalizers = nil })
		w.collect()
	case 19:
		w.delete()
	default:
		w.edit(drawEdit(t))
	}
	if rapid.IntRange(0, 2).Draw(t, "unseen") == 2 {
		w.watched, w.known = watched, known
	}
}

// changeMind has the user take an edit back that the controller's cache has seen,
// which it does not see of this.
func (w *world) changeMind(t *rapid.T) {
	sm := w.stored()
	if sm == nil {
		return
	}
	w.edit(drawEdit(t))
	watched, known := w.watched, w.known
	w.edit(func(edited *v1beta1.ScheduledMachine) { edited.Spec = sm.Spec })
	w.watched, w.known = watched, known
}

func (w *world) delete() {
	if sm := w.stored(); sm != nil && sm.DeletionTimestamp.IsZero() {
		w.deleted = metav1.NewTime(w.clock.Now().Truncate(time.Second))
		if err := w.store.Delete(context.Background(), sm); err != nil {
			w.fatalf("%v", err)
		}
		w.deliverOwn()
		w.collect()
	}
}

func drawEdit(t *rapid.T) func(*v1beta1.ScheduledMachine) {
	what := rapid.SampledFrom([]string{"killSwitch", "enabled", "schedule", "taints", "taints", "bootstrap", "infrastructure", "drain", "grace"}).Draw(t, "edits")
	return func(sm *v1beta1.ScheduledMachine) {
		switch what {
		case "killSwitch":
			sm.Spec.KillSwitch = rapid.Bool().Draw(t, what)
		case "enabled":
			sm.Spec.Enabled = new(rapid.Bool().Draw(t, what))
		case "schedule":
			sm.Spec.Schedule.Name = rapid.SampledFrom([]string{"desk", otherSchedule}).Draw(t, what)
		case "taints":
			sm.Spec.NodeTaints = drawTaints(t)
		case "bootstrap":
			sm.Spec.BootstrapSpec.Spec.Raw = []byte(rapid.SampledFrom([]string{`{}`, `{"a":1}`}).Draw(t, what))
		case "infrastructure":
			sm.Spec.InfrastructureSpec.Kind = rapid.SampledFrom([]string{"DevMachine", "OtherMachine", "NobodysMachine"}).Draw(t, what)
		case "drain":
			sm.Spec.NodeDrainTimeout = rapid.SampledFrom([]v1beta1.Timeout{"0s", "1m", "1h"}).Draw(t, what)
		case "grace":
			sm.Spec.GracefulShutdownTimeout = rapid.SampledFrom([]v1beta1.Timeout{"2m", "10m"}).Draw(t, what)
		}
	}
}

func drawTaints(t *rapid.T) []v1beta1.NodeTaint {
	var taints []v1beta1.NodeTaint
	for _, key := range taintKeys {
		if value := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, key); value != "" {
			taints = append(taints, v1beta1.NodeTaint{Key: key, Value: value, Effect: "NoSchedule"})
		}
	}
	return taints
}

// interfere has somebody else take the Machine's name, or delete the Machine.
func (w *world) interfere(t *rapid.T) {
	switch {
	case w.objects[capi.MachineKind] == nil:
		foreign := machineObject(w.machineVersion)
		foreign.SetUID("foreign")
		w.put(capi.MachineKind, foreign)
	case w.machine() == nil:
		w.remove(capi.MachineKind)
	case rapid.Bool().Draw(t, "deletes the Machine"):
		w.remove(capi.MachineKind)
	}
}

// repair ends what is wrong in the world, but for what stays so for good.
func (w *world) repair(t *rapid.T) {
	w.reading.NextTransition, w.other.NextTransition = settled(w.reading), settled(w.other)
	w.unreadable, w.stalls = schema.GroupKind{}, nil
	w.otherIsUp()
	if w.machine() == nil {
		w.remove(capi.MachineKind) // the foreign one
	}
	w.edit(func(sm *v1beta1.ScheduledMachine) { sm.Spec.InfrastructureSpec.Kind = "DevMachine" })
	if w.far.node != nil && w.machine() != nil {
		w.far.setReady(corev1.ConditionTrue)
	}
	stays := rapid.SampledFrom([]string{"", "", "", "the cluster is out of reach", "the Secret is gone", "the Cluster leaves", "pods refuse to go"}).Draw(t, "for good")
	if stays != "the cluster is out of reach" || w.far.state == workload.Loading {
		w.far.state = workload.Reachable
	}
	if stays != "the Secret is gone" {
		w.secretGone = w.far == w.near
	}
	if stays != "the Cluster leaves" {
		w.cluster.state = clusterThere
		if w.cluster.controlPlane == controlPlaneLeaving {
			w.cluster.controlPlane = controlPlaneThere
		}
	}
	if stays != "pods refuse to go" {
		for _, pod := range w.far.pods {
			pod.refuses = false
		}
	}
}

// settled is the next change of a schedule that does not change any more.
func settled(reading contract.Reading) time.Time {
	if reading.State == contract.Inactive {
		return time.Time{}
	}
	return reading.NextTransition
}

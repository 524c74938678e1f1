// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"maps"
	"slices"
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
	if rapid.IntRange(0, 19).Draw(t, "deletes") == 19 {
		w.delete()
	} else {
		w.edit(drawEdit(t))
	}
	if rapid.IntRange(0, 2).Draw(t, "unseen") == 2 {
		w.watched, w.known = watched, known
	}
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
	edits := map[string]func(*v1beta1.ScheduledMachine){
		"kill":       func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true },
		"do not":     func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = false },
		"enable":     func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(true) },
		"disable":    func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(false) },
		"schedule":   func(sm *v1beta1.ScheduledMachine) { sm.Spec.Schedule.Name = otherSchedule },
		"first one":  func(sm *v1beta1.ScheduledMachine) { sm.Spec.Schedule.Name = "desk" },
		"no taints":  func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeTaints = nil },
		"taint":      func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeTaints = drawTaints(t) },
		"bootstrap":  func(sm *v1beta1.ScheduledMachine) { sm.Spec.BootstrapSpec.Spec.Raw = []byte(`{"a":1}`) },
		"as it was":  func(sm *v1beta1.ScheduledMachine) { sm.Spec.BootstrapSpec.Spec.Raw = []byte(`{}`) },
		"no drain":   func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "0s" },
		"long drain": func(sm *v1beta1.ScheduledMachine) { sm.Spec.NodeDrainTimeout = "1h" },
		"grace":      func(sm *v1beta1.ScheduledMachine) { sm.Spec.GracefulShutdownTimeout = "10m" },
		"infrastructure": func(sm *v1beta1.ScheduledMachine) {
			sm.Spec.InfrastructureSpec.Kind = rapid.SampledFrom([]string{"DevMachine", "OtherMachine", "NobodysMachine"}).Draw(t, "kind")
		},
	}
	return edits[rapid.SampledFrom(slices.Sorted(maps.Keys(edits))).Draw(t, "edits")]
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
	w.unreadable = schema.GroupKind{}
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

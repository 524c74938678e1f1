// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/fivespot/fivespot/internal/capi"
)

// cluster is the Cluster, as far as Cluster API goes by it.
type cluster struct {
	state        string
	controlPlane string // what its reference leads to; empty for no reference
	machines     bool   // there are Machines of a control plane
}

const (
	clusterThere   = ""
	clusterLeaving = "is being deleted"
	clusterGone    = "is gone"

	controlPlaneThere    = "there is a control plane"
	controlPlaneExternal = "the control plane is run by somebody else"
	controlPlaneLeaving  = "the control plane is being deleted"
	controlPlaneMissing  = "the control plane is missing"
)

// drains reports whether Cluster API drains nodes, and deletes Nodes: the rule of
// its Machine controller.
func (c cluster) drains() bool {
	switch {
	case c.leaves():
		return false
	case c.controlPlane == controlPlaneExternal:
		return true
	}
	return c.machines
}

// leaves reports whether Cluster API takes the cluster for one that ends.
func (c cluster) leaves() bool {
	return c.state != clusterThere || c.controlPlane == controlPlaneLeaving
}

// looksAtNodes reports whether Cluster API knows of a control plane, without which
// it does not look at Nodes.
func (c cluster) looksAtNodes() bool { return c.drains() || c.leaves() }

func (w *world) changeCluster(t *rapid.T) {
	w.cluster = cluster{
		state:        rapid.SampledFrom([]string{"", "", "", "", "", "", "", "", clusterLeaving, clusterGone}).Draw(t, "Cluster"),
		controlPlane: rapid.SampledFrom([]string{"", "", "", controlPlaneThere, controlPlaneExternal, controlPlaneLeaving, controlPlaneMissing}).Draw(t, "control plane"),
		machines:     rapid.IntRange(0, 2).Draw(t, "control plane Machines") == 2,
	}
}

// clusterAPI takes one step of Cluster API's, if there is one to take.
func (w *world) clusterAPI(t *rapid.T) {
	machine := w.machine()
	switch {
	case machine == nil:
	case machine.GetDeletionTimestamp() != nil:
		if state := reduceChild(machine).machine; w.cluster.drains() && !state.SkipsDrain && rapid.Bool().Draw(t, "volumes hang") {
			return
		}
		w.machineIsDeleted(machine)
	case len(machine.GetFinalizers()) == 0:
		w.machineIsTakenOn(machine)
	default:
		w.machineReports(machine, rapid.SampledFrom([]string{"Provisioning", "Running", "Running", "Running", "Failed"}).Draw(t, "reports"))
	}
}

// cooperate takes every step of Cluster API's that brings a Machine where it
// should be, and ends the pods that were asked to go.
func (w *world) cooperate() {
	w.far.podsEnd()
	machine := w.machine()
	switch {
	case machine == nil:
	case machine.GetDeletionTimestamp() != nil:
		w.machineIsDeleted(machine)
	case len(machine.GetFinalizers()) == 0:
		w.machineIsTakenOn(machine)
	default:
		state := reduceChild(machine).machine
		if (state.Phase != "Running" || w.cluster.looksAtNodes() && !state.NodeReady) && state.Failure == "" {
			w.machineReports(machine, "Running")
		}
	}
}

func (w *world) machineIsTakenOn(machine *unstructured.Unstructured) {
	machine = machine.DeepCopy()
	machine.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
	w.put(capi.MachineKind, machine)
}

// machineReports has Cluster API write a Machine's status. A node joins once the
// Machine runs, and from then on it is told.
func (w *world) machineReports(machine *unstructured.Unstructured, phase string) {
	if phase == "Running" && !w.far.isOf(machine) {
		w.far.join(machine)
	}
	machine = machine.DeepCopy()
	newer := w.machineVersion == capi.VersionV1Beta2
	status := map[string]any{"phase": phase}
	if phase == "Failed" {
		failure := map[string]any{"failureReason": "CreateError", "failureMessage": "no capacity"}
		if newer {
			status["deprecated"] = map[string]any{"v1beta1": failure}
		} else {
			status["failureReason"], status["failureMessage"] = failure["failureReason"], failure["failureMessage"]
		}
	}
	if w.far.isOf(machine) {
		node := map[string]any{"name": w.far.node.Name}
		if newer {
			status["initialization"] = map[string]any{"infrastructureProvisioned": true, "bootstrapDataSecretCreated": true}
		} else {
			status["infrastructureReady"], status["bootstrapReady"] = true, true
			node["uid"] = string(w.far.node.UID)
		}
		status["nodeRef"] = node
		setField(machine, w.far.node.Spec.ProviderID, "spec", "providerID")
		if w.cluster.looksAtNodes() && w.far.ready() == corev1.ConditionTrue {
			w.setCondition(status, clusterv1.MachineNodeReadyCondition, "Ready")
		}
	}
	machine.Object["status"] = status
	w.put(capi.MachineKind, machine)
}

// setCondition makes a condition of the newer kind the only one of a Machine's status.
func (w *world) setCondition(status map[string]any, name, reason string) {
	conditions := []any{map[string]any{"type": name, "status": "True", "reason": reason, "lastTransitionTime": "2001-01-01T00:00:00Z"}}
	if w.machineVersion == capi.VersionV1Beta2 {
		status["conditions"] = conditions
	} else {
		status["v1beta2"] = map[string]any{"conditions": conditions}
	}
}

// machineIsDeleted takes the next step of a deletion: the drain, unless it is not
// Cluster API's to do, then the wait for whoever asked for it, then the end.
func (w *world) machineIsDeleted(machine *unstructured.Unstructured) {
	state := reduceChild(machine).machine
	switch {
	case w.drainedByClusterAPI(machine) && len(w.far.left(w.clock.Now())) > 0:
		w.far.evictAll()
		w.deletionStands(machine, clusterv1.MachineDeletingDrainingNodeReason, "nodeDrainStartTime")
	case state.Held:
		w.deletionStands(machine, clusterv1.MachineDeletingWaitingForPreTerminateHookReason, "waitForPreTerminateHookStartTime")
	default:
		w.wentUndrained = !state.DrainStartedAt.IsZero() && w.timedOut(state) && len(w.far.left(w.clock.Now())) > 0
		w.machineGoes(machine)
	}
}

// drainedByClusterAPI reports whether Cluster API drains, or goes on to drain, the
// node of a Machine that is being deleted. Once it has come to wait for somebody
// before it takes the machine away, it does not any more.
func (w *world) drainedByClusterAPI(machine *unstructured.Unstructured) bool {
	waits, _, _ := unstructured.NestedString(machine.Object, "status", "deletion", "waitForPreTerminateHookStartTime")
	state := reduceChild(machine).machine
	_, skips := machine.GetAnnotations()[clusterv1.ExcludeNodeDrainingAnnotation]
	return w.cluster.drains() && w.far.isOf(machine) && state.NodeName != "" && waits == "" && !skips && !w.timedOut(state)
}

// timedOut reports whether a drain of Cluster API's has lasted as long as it may.
func (w *world) timedOut(machine *capi.MachineState) bool {
	began, limit := machine.DrainStartedAt, *machine.DrainTimeout
	return !began.IsZero() && limit > 0 && !w.clock.Now().Before(began.Add(limit))
}

// deletionStands has a Machine say how far its deletion is, and since when.
func (w *world) deletionStands(machine *unstructured.Unstructured, reason, since string) {
	if reduceChild(machine).machine.DeletingReason == reason {
		return
	}
	machine = machine.DeepCopy()
	status, _, _ := unstructured.NestedMap(machine.Object, "status")
	if status == nil {
		status = map[string]any{}
	}
	w.setCondition(status, clusterv1.MachineDeletingCondition, reason)
	machine.Object["status"] = status
	if _, told, _ := unstructured.NestedString(status, "deletion", since); !told {
		setField(machine, w.clock.Now().UTC().Format(time.RFC3339), "status", "deletion", since)
	}
	w.put(capi.MachineKind, machine)
}

// machineGoes ends a Machine and what it refers to, and its Node where Cluster API
// deletes Nodes.
func (w *world) machineGoes(machine *unstructured.Unstructured) {
	kind, _, _ := unstructured.NestedString(machine.Object, "spec", "infrastructureRef", "kind")
	for gk, object := range w.objects {
		if (gk.Kind == kind || gk == bootstrapKind) && reduceChild(object).ownedBy(ownUID) {
			w.remove(gk)
		}
	}
	if w.far.isOf(machine) {
		w.nodeDies()
	}
	w.version++
	delete(w.objects, capi.MachineKind)
}

// nodeDies ends the node of a Machine that goes.
func (w *world) nodeDies() {
	w.far.pods = nil
	w.far.setReady(corev1.ConditionUnknown)
	if w.cluster.drains() {
		w.far.node = nil
		return
	}
	if sm := w.stored(); w.settling && sm != nil && sm.Status.DrainStartTime != nil && w.clock.Now().Before(nodeDeadline(sm)) {
		w.owed = w.far.node.UID
	}
}

func setField(object *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		panic(err)
	}
}

func machineObject(version string) *unstructured.Unstructured {
	machine := &unstructured.Unstructured{}
	machine.SetGroupVersionKind(schema.GroupVersionKind{Group: capi.MachineKind.Group, Version: version, Kind: "Machine"})
	machine.SetNamespace(worldName.Namespace)
	machine.SetName(worldName.Name)
	machine.SetCreationTimestamp(metav1.NewTime(noon))
	return machine
}

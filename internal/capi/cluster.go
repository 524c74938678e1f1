// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ClusterKind is the kind of a Cluster API Cluster.
var ClusterKind = schema.GroupKind{Group: MachineKind.Group, Kind: "Cluster"}

// ControlPlaneGroup is the API group of Cluster API's control plane providers.
const ControlPlaneGroup = "controlplane.cluster.x-k8s.io"

// ControlPlaneOf returns the kind and name of the control plane object that a
// Cluster, at either version of its API, refers to; empty if it refers to none.
func ControlPlaneOf(cluster *unstructured.Unstructured) (kind schema.GroupKind, name string) {
	field := func(key string) string {
		value, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", key)
		return value
	}
	kind = schema.GroupKind{Group: field("apiGroup"), Kind: field("kind")}
	if kind.Group == "" { // v1beta1
		kind.Group = schema.FromAPIVersionAndKind(field("apiVersion"), kind.Kind).Group
	}
	if name = field("name"); name == "" {
		return schema.GroupKind{}, ""
	}
	return kind, name
}

// ControlPlaneVersion returns the Kubernetes version of a control plane object,
// by Cluster API's contract for control planes: the one that it runs at least
// or, before it runs, the one that it is to run; "" if it tells neither.
// A node may not be newer than what the control plane runs.
func ControlPlaneVersion(controlPlane *unstructured.Unstructured) string {
	for _, path := range [][]string{{"status", "version"}, {"spec", "version"}} {
		if version, _, _ := unstructured.NestedString(controlPlane.Object, path...); version != "" {
			return version
		}
	}
	return ""
}

// ExternallyManaged reports whether a control plane object says that no Machines
// stand behind it, by Cluster API's contract for control planes.
func ExternallyManaged(controlPlane *unstructured.Unstructured) bool {
	external, _, _ := unstructured.NestedBool(controlPlane.Object, "status", "externalManagedControlPlane")
	return external
}

// ConnectionProblem returns why Cluster API cannot reach the workload cluster, in
// its own words; "" if it can, or does not tell.
func ConnectionProblem(cluster *unstructured.Unstructured) string {
	for _, path := range [][]string{{"status", "conditions"}, {"status", "v1beta2", "conditions"}} {
		conditions, _, _ := unstructured.NestedSlice(cluster.Object, path...)
		for _, entry := range conditions {
			condition, ok := entry.(map[string]any)
			if ok && condition["type"] == clusterv1.ClusterRemoteConnectionProbeCondition && condition["status"] != "True" {
				message, _ := condition["message"].(string)
				return message
			}
		}
	}
	return ""
}

// ControlPlaneMachineOf returns the name of the cluster whose control plane a
// Machine belongs to; "" if it belongs to none.
func ControlPlaneMachineOf(machine *unstructured.Unstructured) string {
	labels := machine.GetLabels()
	if _, ok := labels[clusterv1.MachineControlPlaneLabel]; !ok {
		return ""
	}
	return labels[clusterv1.ClusterNameLabel]
}

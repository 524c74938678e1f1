// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

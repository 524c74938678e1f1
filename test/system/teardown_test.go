// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// TestDeletingTheNamespaceTakesTheMachineAlong deletes all of a namespace at
// once, its Cluster included. A provider of real infrastructure keeps its
// cluster object until the machines are gone; Cluster API's development provider
// drops the DevCluster at once and then cannot delete a machine any more. So the
// test pauses the DevCluster, and the namespace outlives the test with it: that a
// namespace ends is tested beside the controller.
func TestDeletingTheNamespaceTakesTheMachineAlong(t *testing.T) {
	const namespace = "short-lived"
	if err := localclustertest.Cluster(t).WorkloadCluster(deadline(t), namespace, "desk"); err != nil {
		t.Fatal(err)
	}
	toggle(t, namespace, "desk", true)
	sm := machine(t, namespace, "rack", "desk", func(sm *v1beta1.ScheduledMachine) { sm.Spec.ClusterName = "desk" })
	awaitPhase(t, sm, v1beta1.PhaseActive)
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(devCluster)
	cluster.SetNamespace(namespace)
	cluster.SetName("desk")
	if err := localclustertest.Cluster(t).Client().Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	patch(t, cluster, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":"true"}}}`)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := localclustertest.Cluster(t).Client().Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, sm)
	for key := range everything(t, namespace) {
		if strings.HasSuffix(key, "/rack") {
			t.Errorf("%s is left", key)
		}
	}
}

var devCluster = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "DevCluster"}

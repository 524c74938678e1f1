// SPDX-License-Identifier: Apache-2.0

package shutdown_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/workload"
	"github.com/fivespot/fivespot/test/hardware"
)

// Cluster API keeps the connections that it has, so it notices a kubeconfig that
// is lost when it is started anew. That is why this test runs before the others.
func TestAMachineWhoseKubeconfigIsLostGoesWhenItsTimeIsOver(t *testing.T) {
	const bound = 30 * time.Second
	cases := map[string]struct {
		lose   func(*testing.T, *rack)
		reason string
	}{
		"the Secret is gone": {
			lose: func(t *testing.T, r *rack) {
				t.Helper()
				r.delete(t, kubeconfigSecret(r))
			},
			reason: workload.ReasonKubeconfigNotFound,
		},
		"the Secret holds something else": {
			lose: func(t *testing.T, r *rack) {
				t.Helper()
				hardware.Patch(t, r.Client(), kubeconfigSecret(r), `{"data":{"value":"aGVsbG8="}}`)
			},
			reason: workload.ReasonKubeconfigInvalid,
		},
	}
	racks := map[string]*rack{}
	for name, lost := range cases {
		racks[name] = newRack(t, hardware.NewCluster(t), within(bound), func(sm *v1beta1.ScheduledMachine) {
			sm.Spec.KubeconfigSecretRef = &v1beta1.KubeconfigSecretReference{Name: hardware.ClusterName + "-kubeconfig"}
		})
		lost.lose(t, racks[name])
	}
	core := hardware.Get(t).Management().Part(localcluster.PartCore) // which does not always end when it is told to stop
	if err := core.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := core.Start(hardware.Context(t)); err != nil {
		t.Fatal(err)
	}
	for name, lost := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := racks[name]
			said := r.history.Await(t, "said that the cluster cannot be reached", func(sm *v1beta1.ScheduledMachine) bool {
				return condition(sm, v1beta1.ConditionChildClusterReachable).Reason == lost.reason
			})
			reachable := condition(said, v1beta1.ConditionChildClusterReachable)
			if reachable.Status != metav1.ConditionFalse || !containsAll(reachable.Message, []string{hardware.ClusterName + "-kubeconfig"}) {
				t.Errorf("condition ChildClusterReachable is %s and does not name the Secret: %s", reachable.Status, reachable.Message)
			}
			r.Toggle(t, r.sm, false)
			r.awaitForced(t, bound, []string{hardware.ClusterName + "-kubeconfig"})
			r.awaitInactive(t)
		})
	}
}

func kubeconfigSecret(r *rack) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: hardware.ClusterName + "-kubeconfig"}}
}

// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// appLabel carries a pod's name, for its budget.
const appLabel = "app"

// Pod runs a pod on a node and returns it when it runs.
func (c *Cluster) Pod(t testing.TB, node *corev1.Node, name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: map[string]string{appLabel: name}},
		Spec: corev1.PodSpec{
			NodeName:                     node.Name,
			AutomountServiceAccountToken: new(false),
			Containers:                   []corev1.Container{{Name: "work", Image: "work"}},
		},
	}
	for _, change := range changes {
		change(pod)
	}
	c.createOn(t, c.workload.client, pod)
	if err := await.Object(Context(t), c.workload.client, pod, func() error {
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod is %s", pod.Status.Phase)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return pod
}

// Budget makes a PodDisruptionBudget that lets a pod never be evicted, and
// returns it when Kubernetes has counted its pod.
func (c *Cluster) Budget(t testing.TB, pod *corev1.Pod, name string) *policyv1.PodDisruptionBudget {
	t.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)),
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: pod.Labels[appLabel]}},
		},
	}
	c.createOn(t, c.workload.client, budget)
	if err := await.Object(Context(t), c.workload.client, budget, func() error {
		if budget.Status.CurrentHealthy != 1 {
			return fmt.Errorf("budget counts %d healthy pods", budget.Status.CurrentHealthy)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return budget
}

// PodExists reports whether a pod still exists.
func (c *Cluster) PodExists(t testing.TB, pod *corev1.Pod) bool {
	t.Helper()
	err := c.workload.client.Get(Context(t), client.ObjectKeyFromObject(pod), &corev1.Pod{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

const (
	// Namespace is where the first workload cluster is, and what follows it:
	// the machines and schedules of the guide.
	Namespace = "trading"
	// WorkloadClusterName is the name of the first workload cluster.
	WorkloadClusterName = "trading"
	// KubernetesVersion is the version that workload clusters say they have.
	KubernetesVersion = "v1.37.2"
)

//go:embed workloadcluster.yaml
var workloadClusterManifest string

// WorkloadCluster makes a workload cluster, and its namespace if need be, and
// returns when it is available, so that worker machines can join. One that is
// there already is left as it is and waited for.
func (c *Cluster) WorkloadCluster(ctx context.Context, namespace, name string) error {
	if err := applyOne(ctx, c.client, namespaceObject(namespace)); err != nil {
		return err
	}
	cluster := &clusterv1.Cluster{}
	cluster.Namespace, cluster.Name = namespace, name
	err := c.client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)
	if apierrors.IsNotFound(err) {
		err = c.createWorkloadCluster(ctx, namespace, name)
	}
	if err != nil {
		return fmt.Errorf("making the workload cluster %s/%s: %w", namespace, name, err)
	}
	if err := await.Object(ctx, c.client, cluster, func() error { return available(cluster) }); err != nil {
		return err
	}
	return c.awaitWorkloadAPI(ctx, cluster)
}

// awaitWorkloadAPI returns when the API server of a workload cluster answers.
// After a restart its conditions are those of before, but what existed in
// memory only has to be made anew.
func (c *Cluster) awaitWorkloadAPI(ctx context.Context, cluster *clusterv1.Cluster) error {
	config, err := c.WorkloadConfig(ctx, cluster.Namespace, cluster.Name)
	if err != nil {
		return err
	}
	workload, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to the workload cluster: %w", err)
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, last = workload.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the API server of the workload cluster: %w (%w)", context.Cause(ctx), last)
	}
	return nil
}

// WorkloadConfig returns the client configuration of an administrator of a
// workload cluster, from the Secret that Cluster API keeps it in.
func (c *Cluster) WorkloadConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	var stored corev1.Secret
	key := client.ObjectKey{Namespace: namespace, Name: name + "-kubeconfig"}
	if err := c.client.Get(ctx, key, &stored); err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the workload cluster %s/%s: %w", namespace, name, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(stored.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the workload cluster %s/%s: %w", namespace, name, err)
	}
	return config, nil
}

func available(cluster *clusterv1.Cluster) error {
	condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.AvailableCondition)
	switch {
	case condition == nil:
		return errors.New("it has no Available condition yet")
	case condition.Status != "True":
		return fmt.Errorf("it is not available: %s %s", condition.Reason, condition.Message)
	default:
		return nil
	}
}

func (c *Cluster) createWorkloadCluster(ctx context.Context, namespace, name string) error {
	port, err := c.ports.pick()
	if err != nil {
		return err
	}
	objects, err := decode([]byte(strings.NewReplacer(
		"${NAME}", name,
		"${PORT}", strconv.Itoa(port),
		"${VERSION}", KubernetesVersion,
	).Replace(workloadClusterManifest)))
	if err != nil {
		return err
	}
	for _, object := range objects {
		object.SetNamespace(namespace)
		if err := applyOne(ctx, c.client, object); err != nil {
			return err
		}
	}
	return nil
}

func namespaceObject(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	object.SetName(name)
	return object
}

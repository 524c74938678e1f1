// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	return await.Object(ctx, c.client, cluster, func() error { return available(cluster) })
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

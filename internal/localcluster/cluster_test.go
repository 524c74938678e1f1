// SPDX-License-Identifier: Apache-2.0

package localcluster_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/internal/process/processtest"
)

var processes = []string{
	localcluster.PartControlPlane,
	localcluster.PartCore,
	localcluster.PartBootstrap,
	localcluster.PartKubeadmControlPlane,
	localcluster.PartInfrastructure,
	localcluster.PartController,
	localcluster.PartManualSchedule,
	localcluster.PartTimeBased,
	localcluster.PartCapitalMarkets,
}

func TestEveryPartListensOnLoopbackOnly(t *testing.T) {
	cluster := localclustertest.Cluster(t)
	for _, name := range processes {
		part := cluster.Part(name)
		if part == nil {
			t.Errorf("there is no part %q", name)
			continue
		}
		addresses := processtest.Listening(t, part.PID())
		if len(addresses) == 0 {
			t.Errorf("the %s seems to listen nowhere", name)
		}
		for _, address := range addresses {
			if !address.IsLoopback() {
				t.Errorf("the %s listens on %s", name, address)
			}
		}
	}
}

func TestWorkerMachineComesUpWithAReadyNodeAndGoesAway(t *testing.T) {
	cluster := localclustertest.Cluster(t)
	c, ctx := cluster.Client(), localclustertest.Context(t)
	namespace := localclustertest.WorkloadCluster(t)

	machine := worker(t, ctx, c, namespace, "rack")
	if err := await.Object(ctx, c, machine, func() error { return nodeReady(machine) }); err != nil {
		t.Fatal(err)
	}
	nodes := nodesOf(t, ctx, cluster, namespace)
	if node := nodes["rack"]; node == nil {
		t.Errorf("the workload cluster has the nodes %v, want one named rack", nodes)
	} else if machine.Spec.ProviderID != node.Spec.ProviderID {
		t.Errorf("the Node has provider ID %q, the Machine %q", node.Spec.ProviderID, machine.Spec.ProviderID)
	}

	if err := c.Delete(ctx, machine); err != nil {
		t.Fatal(err)
	}
	if err := await.Gone(ctx, c, machine); err != nil {
		t.Fatal(err)
	}
	if nodes := nodesOf(t, ctx, cluster, namespace); nodes["rack"] != nil {
		t.Error("the Node is still there after its Machine is gone")
	}
}

// worker makes what one makes by hand for a worker: a bootstrap object, an
// infrastructure object and the Machine.
func worker(t *testing.T, ctx context.Context, c client.Client, namespace, name string) *clusterv1.Machine {
	t.Helper()
	cluster := localclustertest.WorkloadClusterName
	create := func(group, kind string, spec map[string]any) {
		t.Helper()
		object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: kind})
		object.SetNamespace(namespace)
		object.SetName(name)
		object.SetLabels(map[string]string{clusterv1.ClusterNameLabel: cluster})
		if err := c.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
	create("bootstrap.cluster.x-k8s.io", "KubeadmConfig", map[string]any{
		"joinConfiguration": map[string]any{"nodeRegistration": map[string]any{"criSocket": "unix:///run/containerd/containerd.sock"}},
	})
	create("infrastructure.cluster.x-k8s.io", "DevMachine", map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}})
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}},
		Spec: clusterv1.MachineSpec{
			ClusterName: cluster,
			Version:     localcluster.KubernetesVersion,
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig", Name: name,
			}},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine", Name: name,
			},
		},
	}
	if err := c.Create(ctx, machine); err != nil {
		t.Fatal(err)
	}
	return machine
}

func nodeReady(machine *clusterv1.Machine) error {
	if !meta.IsStatusConditionTrue(machine.Status.Conditions, clusterv1.MachineNodeReadyCondition) {
		return errors.New("its Node is not ready")
	}
	if machine.Spec.ProviderID == "" {
		return errors.New("it has no provider ID")
	}
	return nil
}

func nodesOf(t *testing.T, ctx context.Context, cluster *localcluster.Cluster, namespace string) map[string]*corev1.Node {
	t.Helper()
	config, err := cluster.WorkloadConfig(ctx, namespace, localclustertest.WorkloadClusterName)
	if err != nil {
		t.Fatal(err)
	}
	workload, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := workload.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]*corev1.Node{}
	for i := range list.Items {
		nodes[list.Items[i].Name] = &list.Items[i]
	}
	return nodes
}

func TestPartCanBeKilledAndStartedAgain(t *testing.T) {
	cluster := localclustertest.Cluster(t)
	provider := cluster.Part(localcluster.PartManualSchedule)
	before := provider.PID()
	hold := processtest.Take(t, before)
	if err := provider.Kill(); err != nil {
		t.Fatal(err)
	}
	hold.AwaitEnd()
	if err := provider.Start(localclustertest.Context(t)); err != nil {
		t.Fatal(err)
	}
	if provider.PID() == before {
		t.Error("it is the same process")
	}
	if err := provider.Start(localclustertest.Context(t)); err == nil {
		t.Error("a part that runs could be started")
	}
	select {
	case <-cluster.Done():
		t.Errorf("the cluster ended: %v", cluster.Err())
	default:
	}
}

func TestDirectoryInUseIsATypedError(t *testing.T) {
	dir := localclustertest.Cluster(t).Dir()
	_, err := localcluster.Start(localclustertest.Context(t), localcluster.Options{Dir: dir})
	var inUse *localcluster.InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("got %v, want an InUseError", err)
	}
	want := &localcluster.InUseError{Dir: dir, PID: strconv.Itoa(os.Getpid())}
	if diff := cmp.Diff(want, inUse); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestServiceAccountConfigIsThatAccount(t *testing.T) {
	config, err := localclustertest.Cluster(t).ServiceAccountConfig(localclustertest.Context(t), "5spot-system", "5spot-controller")
	if err != nil {
		t.Fatal(err)
	}
	account, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account.CoreV1().ConfigMaps("default").List(localclustertest.Context(t), metav1.ListOptions{}); err == nil {
		t.Error("the controller's account may list ConfigMaps in namespace default")
	}
	review, err := account.Discovery().ServerVersion()
	if err != nil || review.Minor != "37" {
		t.Errorf("asked as the controller's account, the server's version is %v (%v), want 1.37", review, err)
	}
}

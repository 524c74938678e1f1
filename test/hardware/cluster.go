// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// ClusterName is the name of every Cluster; each is in a namespace of its own.
const ClusterName = "racks"

// A Cluster is a Cluster API cluster whose machines are racks.
type Cluster struct {
	// Namespace is where the Cluster and its machines are in the management
	// cluster, and where its pods are in the workload cluster.
	Namespace string
	// Wire is between everybody who uses the kubeconfig of the cluster and its
	// API server.
	Wire *Wire

	rig      *Rig
	workload *Workload
	version  string // of Cluster API's API
}

// A ClusterOption changes what NewCluster makes.
type ClusterOption func(*clusterOptions)

type clusterOptions struct {
	workload            int
	withoutControlPlane bool
	lostControlPlane    bool
	version             string
}

// On has the machines join the workload cluster of that number; without it, 0.
func On(workload int) ClusterOption { return func(o *clusterOptions) { o.workload = workload } }

// WithoutControlPlane makes a Cluster of which Cluster API knows no control
// plane: neither a control plane object nor a control plane machine.
func WithoutControlPlane(o *clusterOptions) { o.withoutControlPlane = true }

// LostControlPlane makes a Cluster whose control plane machine is gone, and that
// is therefore one without a control plane by now.
func LostControlPlane(o *clusterOptions) { o.lostControlPlane = true }

// AtV1Beta1 makes the objects of Cluster API at that version of its API, which
// need not serve another.
func AtV1Beta1(o *clusterOptions) { o.version = "v1beta1" }

// NewCluster makes a Cluster in a namespace of its own. Unless told otherwise,
// it has one control plane machine, as Cluster API wants one to drain others.
func NewCluster(t testing.TB, options ...ClusterOption) *Cluster {
	t.Helper()
	o := clusterOptions{version: clusterv1.GroupVersion.Version}
	for _, option := range options {
		option(&o)
	}
	c := &Cluster{rig: Get(t), workload: Get(t).Workload(o.workload), version: o.version}
	c.makeNamespaces(t)
	var err error
	if c.Wire, err = c.rig.wire(c.workload); err != nil {
		t.Fatal(err)
	}
	c.rig.hardware.connect(client.ObjectKey{Namespace: c.Namespace, Name: ClusterName}, c.workload)
	c.create(t, c.KubeconfigSecret(t))
	cluster := c.capiObject("Cluster", ClusterName)
	set(cluster, map[string]any{"host": "127.0.0.1", "port": int64(6443)}, "spec", "controlPlaneEndpoint")
	c.create(t, cluster)
	if o.withoutControlPlane {
		return c
	}
	machine := c.makeControlPlane(t)
	if o.lostControlPlane {
		if err := c.Client().Delete(Context(t), machine); err != nil {
			t.Fatal(err)
		}
		c.AwaitGone(t, machine)
	}
	return c
}

// Client returns a client that may do everything in the management cluster.
func (c *Cluster) Client() client.WithWatch { return c.rig.management.Client() }

// Workload returns the workload cluster that the machines join.
func (c *Cluster) Workload() *Workload { return c.workload }

// makeNamespaces makes a namespace of one name in both clusters.
func (c *Cluster) makeNamespaces(t testing.TB) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.create(t, namespace)
	c.Namespace = namespace.Name
	c.createOn(t, c.workload.client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace.Name}})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "default"}}
	if err := await.Object(Context(t), c.workload.client, account, func() error { return nil }); err != nil {
		t.Fatal(err) // no pod is admitted without it
	}
}

// KubeconfigSecret returns the Secret with the cluster's kubeconfig as it is at
// first. Its server is the near end of the Wire.
func (c *Cluster) KubeconfigSecret(t testing.TB) *corev1.Secret {
	t.Helper()
	kubeconfig, err := clientcmd.LoadFromFile(c.workload.plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := clientcmdapi.FlattenConfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	for _, server := range kubeconfig.Clusters {
		server.Server = "https://" + c.Wire.Address()
	}
	content, err := clientcmd.Write(*kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: ClusterName + "-kubeconfig",
			Labels: map[string]string{clusterv1.ClusterNameLabel: ClusterName},
		},
		Type: clusterv1.ClusterSecretType,
		Data: map[string][]byte{"value": content},
	}
}

// makeControlPlane makes a control plane machine and waits until Cluster API
// has seen its node, and takes the control plane for initialized.
func (c *Cluster) makeControlPlane(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	const name = "control-plane"
	for _, o := range []*unstructured.Unstructured{object(rackConfigKind), object(rackMachineKind)} {
		o.SetNamespace(c.Namespace)
		o.SetName(name)
		o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: ClusterName})
		c.create(t, o)
	}
	machine := c.capiObject("Machine", name)
	machine.SetLabels(map[string]string{clusterv1.ClusterNameLabel: ClusterName, clusterv1.MachineControlPlaneLabel: ""})
	set(machine, ClusterName, "spec", "clusterName")
	set(machine, c.reference(rackConfigKind, name), "spec", "bootstrap", "configRef")
	set(machine, c.reference(rackMachineKind, name), "spec", "infrastructureRef")
	c.create(t, machine)
	cluster := c.capiObject("Cluster", ClusterName)
	if err := await.Object(Context(t), c.Client(), cluster, func() error { return initialized(cluster) }); err != nil {
		t.Fatal(err)
	}
	return machine
}

// initialized reads a condition that both versions have.
func initialized(cluster *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(cluster.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == clusterv1.ClusterControlPlaneInitializedCondition && condition["status"] == "True" {
			return nil
		}
	}
	return errors.Join(errors.New("its control plane is not initialized"), err)
}

// capiObject returns a new object of Cluster API's core.
func (c *Cluster) capiObject(kind, name string) *unstructured.Unstructured {
	o := object(clusterv1.GroupVersion.WithKind(kind))
	o.SetAPIVersion(clusterv1.GroupVersion.Group + "/" + c.version)
	o.SetNamespace(c.Namespace)
	o.SetName(name)
	return o
}

// reference returns a reference to an object in the namespace of the cluster.
func (c *Cluster) reference(kind schema.GroupVersionKind, name string) map[string]any {
	if c.version == "v1beta1" {
		return map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "namespace": c.Namespace, "name": name}
	}
	return map[string]any{"apiGroup": kind.Group, "kind": kind.Kind, "name": name}
}

func (c *Cluster) create(t testing.TB, o client.Object) {
	t.Helper()
	c.createOn(t, c.Client(), o)
}

func (c *Cluster) createOn(t testing.TB, on client.Client, o client.Object) {
	t.Helper()
	if err := on.Create(Context(t), o); err != nil {
		t.Fatal(err)
	}
}

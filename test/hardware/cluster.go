// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"fmt"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
}

// A ClusterOption changes what NewCluster makes.
type ClusterOption func(*clusterOptions)

type clusterOptions struct {
	workload            int
	withoutControlPlane bool
}

// On has the machines join the workload cluster of that number; without it, 0.
func On(workload int) ClusterOption { return func(o *clusterOptions) { o.workload = workload } }

// WithoutControlPlane makes a Cluster of which Cluster API knows no control
// plane: neither a control plane object nor a control plane machine.
func WithoutControlPlane(o *clusterOptions) { o.withoutControlPlane = true }

// NewCluster makes a Cluster in a namespace of its own. Unless told otherwise,
// it has one control plane machine, as Cluster API wants one to drain others.
func NewCluster(t testing.TB, options ...ClusterOption) *Cluster {
	t.Helper()
	var o clusterOptions
	for _, option := range options {
		option(&o)
	}
	c := &Cluster{rig: Get(t), workload: Get(t).Workload(o.workload)}
	c.makeNamespaces(t)
	c.lay(t)
	c.rig.hardware.connect(client.ObjectKey{Namespace: c.Namespace, Name: ClusterName}, c.workload)
	c.create(t, c.KubeconfigSecret(t))
	c.create(t, &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: ClusterName},
		Spec:       clusterv1.ClusterSpec{ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 6443}},
	})
	if !o.withoutControlPlane {
		c.makeControlPlane(t)
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

func (c *Cluster) lay(t testing.TB) {
	t.Helper()
	host, err := url.Parse(c.workload.plane.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	if c.Wire, err = newWire(host.Host); err != nil {
		t.Fatal(err)
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
// has seen its node.
func (c *Cluster) makeControlPlane(t testing.TB) {
	t.Helper()
	const name = "control-plane"
	for _, o := range []*unstructured.Unstructured{object(rackConfigKind), object(rackMachineKind)} {
		o.SetNamespace(c.Namespace)
		o.SetName(name)
		o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: ClusterName})
		c.create(t, o)
	}
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name,
			Labels: map[string]string{clusterv1.ClusterNameLabel: ClusterName, clusterv1.MachineControlPlaneLabel: ""},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName: ClusterName,
			Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: rackConfigKind.Group, Kind: rackConfigKind.Kind, Name: name,
			}},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: rackMachineKind.Group, Kind: rackMachineKind.Kind, Name: name,
			},
		},
	}
	c.create(t, machine)
	if err := await.Object(Context(t), c.Client(), machine, func() error {
		if machine.Status.Phase != string(clusterv1.MachinePhaseRunning) {
			return fmt.Errorf("the control plane machine is %s", machine.Status.Phase)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
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

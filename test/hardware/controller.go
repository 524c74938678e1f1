// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var (
	rackMachineKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "RackMachine"}
	rackConfigKind  = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "RackConfig"}
)

const finalizer = "hardware.test/rack"

// A controller plays the hardware: it does for RackMachines and RackConfigs what
// Cluster API's contract asks of infrastructure and bootstrap providers.
type controller struct {
	client client.Client // of the management cluster

	mu       sync.Mutex
	clusters map[types.NamespacedName]*Workload

	end   context.CancelFunc
	ended chan error
}

func startController(ctx context.Context, management *Rig) (*controller, error) {
	manager, err := ctrl.NewManager(management.management.Config(), ctrl.Options{
		Scheme:     management.management.Client().Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the hardware: %w", err)
	}
	c := &controller{
		client:   manager.GetClient(),
		clusters: map[types.NamespacedName]*Workload{},
		ended:    make(chan error, 1),
	}
	for kind, play := range map[schema.GroupVersionKind]func(context.Context, *unstructured.Unstructured) error{
		rackMachineKind: c.playMachine,
		rackConfigKind:  c.playConfig,
	} {
		err := ctrl.NewControllerManagedBy(manager).For(object(kind)).Complete(reconcile.Func(
			func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				found := object(kind)
				if err := c.client.Get(ctx, request.NamespacedName, found); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				return reconcile.Result{}, play(ctx, found)
			}))
		if err != nil {
			return nil, fmt.Errorf("starting the hardware: %w", err)
		}
	}
	ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	go func() { c.ended <- manager.Start(ctx) }()
	return c, nil
}

func (c *controller) stop() error {
	c.end()
	return <-c.ended
}

// connect tells where the machines of a cluster join.
func (c *controller) connect(cluster types.NamespacedName, to *Workload) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clusters[cluster] = to
}

func (c *controller) workload(of client.Object) (*Workload, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cluster := types.NamespacedName{Namespace: of.GetNamespace(), Name: of.GetLabels()[clusterv1.ClusterNameLabel]}
	if to := c.clusters[cluster]; to != nil {
		return to, nil
	}
	return nil, fmt.Errorf("cluster %s is not one of hardware.NewCluster", cluster)
}

func (c *controller) playMachine(ctx context.Context, machine *unstructured.Unstructured) error {
	workload, err := c.workload(machine)
	if err != nil {
		return err
	}
	if machine.GetDeletionTimestamp() != nil {
		return c.switchOff(ctx, workload, machine)
	}
	return c.switchOn(ctx, workload, machine)
}

// switchOn makes the machine's Node and tells Cluster API of the machine. It
// waits for the Machine, as real providers do.
func (c *controller) switchOn(ctx context.Context, workload *Workload, machine *unstructured.Unstructured) error {
	if provisioned, _, _ := unstructured.NestedBool(machine.Object, "status", "ready"); provisioned || !hasOwner(machine, "Machine") {
		return nil
	}
	before := machine.DeepCopy()
	controllerutil.AddFinalizer(machine, finalizer)
	set(machine, providerID(machine), "spec", "providerID")
	if err := c.client.Patch(ctx, machine, client.MergeFrom(before)); err != nil {
		return err
	}
	if !specBool(machine, "neverJoins") {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(machine)}, Spec: corev1.NodeSpec{ProviderID: providerID(machine)}}
		if err := workload.client.Create(ctx, node); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	before = machine.DeepCopy()
	set(machine, true, "status", "ready")                         // contract v1beta1
	set(machine, true, "status", "initialization", "provisioned") // contract v1beta2
	return c.client.Status().Patch(ctx, machine, client.MergeFrom(before))
}

// switchOff ends the machine's kubelet; its Node stays, as do the pods on it.
func (c *controller) switchOff(ctx context.Context, workload *Workload, machine *unstructured.Unstructured) error {
	if specBool(machine, "neverSwitchesOff") {
		return nil
	}
	if err := workload.endKubelet(ctx, nodeName(machine)); client.IgnoreNotFound(err) != nil {
		return err
	}
	before := machine.DeepCopy()
	controllerutil.RemoveFinalizer(machine, finalizer)
	return client.IgnoreNotFound(c.client.Patch(ctx, machine, client.MergeFrom(before)))
}

// playConfig makes the Secret with the bootstrap data, of which nobody reads a word.
func (c *controller) playConfig(ctx context.Context, bootstrap *unstructured.Unstructured) error {
	if created, _, _ := unstructured.NestedBool(bootstrap.Object, "status", "ready"); created || bootstrap.GetDeletionTimestamp() != nil {
		return nil
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       bootstrap.GetNamespace(),
			Name:            bootstrap.GetName(),
			Labels:          map[string]string{clusterv1.ClusterNameLabel: bootstrap.GetLabels()[clusterv1.ClusterNameLabel]},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: bootstrap.GetAPIVersion(), Kind: bootstrap.GetKind(), Name: bootstrap.GetName(), UID: bootstrap.GetUID()}},
		},
		Type:       clusterv1.ClusterSecretType,
		StringData: map[string]string{"value": "#cloud-config"},
	}
	if err := c.client.Create(ctx, secret); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	before := bootstrap.DeepCopy()
	set(bootstrap, secret.Name, "status", "dataSecretName")
	set(bootstrap, true, "status", "ready")                               // contract v1beta1
	set(bootstrap, true, "status", "initialization", "dataSecretCreated") // contract v1beta2
	return client.IgnoreNotFound(c.client.Status().Patch(ctx, bootstrap, client.MergeFrom(before)))
}

// nodeName is another one for each RackMachine, also for one that takes the name of an earlier.
func nodeName(machine *unstructured.Unstructured) string {
	return machine.GetName() + "-" + string(machine.GetUID()[:8])
}

func providerID(machine *unstructured.Unstructured) string {
	return "rack:///" + string(machine.GetUID())
}

func object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o
}

func hasOwner(o client.Object, kind string) bool {
	for _, owner := range o.GetOwnerReferences() {
		if owner.Kind == kind && ptr.Deref(owner.Controller, false) {
			return true
		}
	}
	return false
}

func specBool(o *unstructured.Unstructured, field string) bool {
	value, _, _ := unstructured.NestedBool(o.Object, "spec", field)
	return value
}

func set(o *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err) // a path through a value that is no object: a fault here
	}
}

// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/workload"
)

// rig is Clusters at work, and a namespace for the Secrets.
type rig struct {
	*workload.Clusters
	t         *testing.T
	namespace string
	registry  *prometheus.Registry
	log       *recording
	wakes     chan types.NamespacedName

	mu    sync.Mutex
	woken map[string]int // see takeWoken
}

// newRig starts Clusters that give a silent server up after seconds.
func newRig(t *testing.T, changes ...func(*workload.Options)) *rig {
	t.Helper()
	return newPatientRig(t, 2*time.Second, time.Second, changes...)
}

// newCalmRig starts Clusters that give no server up during a test, however busy the
// machine is: for what a connection anew would disturb.
func newCalmRig(t *testing.T, changes ...func(*workload.Options)) *rig {
	t.Helper()
	return newPatientRig(t, devplanetest.Patience, devplanetest.Patience, changes...)
}

// newPatientRig starts Clusters that give a server up after answer without one,
// or after ping within a connection.
func newPatientRig(t *testing.T, answer, ping time.Duration, changes ...func(*workload.Options)) *rig {
	t.Helper()
	r := &rig{
		t: t, namespace: devplanetest.Namespace(t), registry: prometheus.NewRegistry(),
		log: &recording{}, wakes: make(chan types.NamespacedName, 1000), woken: map[string]int{},
	}
	options := workload.Options{
		Config: devplanetest.Plane(t).Config(), Metrics: r.registry,
		Log:  funcr.New(func(_, args string) { r.log.add(args) }, funcr.Options{}),
		Wake: r.wake,
	}
	for _, change := range changes {
		change(&options)
	}
	var err error
	if r.Clusters, err = workload.New(options); err != nil {
		t.Fatal(err)
	}
	workload.SetPatience(r.Clusters, answer, ping)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// owner returns the name of a ScheduledMachine.
func (r *rig) owner(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: r.namespace, Name: name}
}

// byName is a reference without kubeconfigSecretRef.
func (r *rig) byName(cluster string) workload.Reference {
	return workload.Reference{Namespace: r.namespace, ClusterName: cluster}
}

// bySecret is a reference with one.
func (r *rig) bySecret(name string) workload.Reference {
	return workload.Reference{Namespace: r.namespace, ClusterName: "unused", Secret: &v1beta1.KubeconfigSecretReference{Name: name}}
}

// await looks whenever an owner is woken, until check returns nil.
func (r *rig) await(owner types.NamespacedName, reference workload.Reference, target workload.Target, check func(workload.View) error) workload.View {
	r.t.Helper()
	ctx := devplanetest.Context(r.t)
	for {
		view := r.Use(owner, reference, target)
		err := check(view)
		if err == nil {
			return view
		}
		for woken := (types.NamespacedName{}); woken != owner; {
			select {
			case woken = <-r.wakes:
			case <-ctx.Done():
				r.t.Fatalf("%v; the view is %+v", err, view)
			}
		}
	}
}

// reaches waits until a cluster is reached.
func (r *rig) reaches(owner types.NamespacedName, reference workload.Reference, target workload.Target) workload.View {
	r.t.Helper()
	return r.await(owner, reference, target, func(v workload.View) error {
		if v.State != workload.Reachable {
			return fmt.Errorf("state %d, want Reachable", v.State)
		}
		return nil
	})
}

// fails waits until a cluster is out of reach for a reason.
func (r *rig) fails(owner types.NamespacedName, reference workload.Reference, reason string) workload.View {
	r.t.Helper()
	return r.await(owner, reference, workload.Target{}, func(v workload.View) error {
		if v.State != workload.Unreachable || v.Reason != reason {
			return fmt.Errorf("state %d for %s, want Unreachable for %s", v.State, v.Reason, reason)
		}
		return nil
	})
}

func (r *rig) wake(owner types.NamespacedName) {
	r.mu.Lock()
	r.woken[owner.Name]++
	r.mu.Unlock()
	r.wakes <- owner
}

// takeWoken returns how often each owner was woken since the last call. What a watch
// brings is taken in one by one, each with its wakes: those for an event have been
// given once a later one of the same watch is seen, and not before.
func (r *rig) takeWoken() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	woken := r.woken
	r.woken = map[string]int{}
	return woken
}

// put makes or replaces the Secret with a kubeconfig.
func (r *rig) put(name string, kubeconfig []byte) { r.putKey(name, "value", kubeconfig) }

func (r *rig) putKey(name, key string, content []byte) {
	r.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Data:       map[string][]byte{key: content},
	}
	c := devplanetest.Client(r.t)
	err := c.Create(r.t.Context(), secret)
	if apierrors.IsAlreadyExists(err) {
		err = c.Update(r.t.Context(), secret)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove(name string) {
	r.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name}}
	if err := devplanetest.Client(r.t).Delete(r.t.Context(), secret); err != nil {
		r.t.Fatal(err)
	}
}

// kubeconfig writes a client's configuration as Cluster API would, for an
// address of the API server.
func kubeconfig(t *testing.T, config *rest.Config, server string) []byte {
	t.Helper()
	const name = "rack"
	content, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: server, CertificateAuthorityData: caOf(t, config)}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// admin is a kubeconfig of the API server for one who may do everything.
func admin(t *testing.T, server string) []byte {
	t.Helper()
	return kubeconfig(t, devplanetest.Plane(t).Config(), server)
}

func caOf(t *testing.T, config *rest.Config) []byte {
	t.Helper()
	if err := rest.LoadTLSFiles(config); err != nil {
		t.Fatal(err)
	}
	return config.CAData
}

// node makes a Node, which goes with the test.
func node(t *testing.T, name, providerID string) *corev1.Node {
	t.Helper()
	made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}, Spec: corev1.NodeSpec{ProviderID: providerID}}
	c := devplanetest.Client(t)
	if err := c.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), made); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return made
}

// setReady writes what a kubelet says of its Node, at an instant.
func setReady(t *testing.T, node *corev1.Node, status corev1.ConditionStatus, at time.Time) {
	t.Helper()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(at)}}
	if err := devplanetest.Client(t).Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

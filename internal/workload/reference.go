// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// defaultKey is the key that Cluster API keeps a kubeconfig under.
const defaultKey = "value"

// Reference says how a ScheduledMachine's workload cluster is found.
type Reference struct {
	// Namespace of the ScheduledMachine, and so of the Secret.
	Namespace string
	// ClusterName is spec.clusterName.
	ClusterName string
	// Secret is spec.kubeconfigSecretRef. Nil: the Secret <clusterName>-kubeconfig,
	// which Cluster API makes, and where there is none the management cluster.
	Secret *v1beta1.KubeconfigSecretReference
	// Remote is set when the cluster is known to have an API server of its own,
	// because it has a control plane object, say. A missing Secret is then a fault
	// and never means the management cluster.
	Remote bool
}

// ReferenceOf returns the reference of a ScheduledMachine.
func ReferenceOf(sm *v1beta1.ScheduledMachine, remote bool) Reference {
	return Reference{
		Namespace: sm.Namespace, ClusterName: sm.Spec.ClusterName,
		Secret: sm.Spec.KubeconfigSecretRef, Remote: remote,
	}
}

// explicit reports whether the user named the Secret.
func (r Reference) explicit() bool { return r.Secret != nil }

// failsClosed reports whether a missing Secret is a fault.
func (r Reference) failsClosed() bool { return r.explicit() || r.Remote }

// secret returns the place of the kubeconfig.
func (r Reference) secret() secretKey {
	key := secretKey{NamespacedName: types.NamespacedName{Namespace: r.Namespace, Name: r.ClusterName + "-kubeconfig"}, key: defaultKey}
	if r.Secret != nil {
		key.Name = r.Secret.Name
		if r.Secret.Key != "" {
			key.key = r.Secret.Key
		}
	}
	return key
}

// secretKey is a key of a Secret.
type secretKey struct {
	types.NamespacedName
	key string
}

// String names the place in messages.
func (k secretKey) String() string { return fmt.Sprintf("key %s of Secret %s", k.key, k.Name) }

// Target is the Node that a ScheduledMachine is about.
type Target struct {
	// Node is the Node's name; empty while the Machine has none.
	Node string
	// ProviderID is the Machine's. A Node with another one is another machine's,
	// whatever its name: see NodeForeign.
	ProviderID string
}

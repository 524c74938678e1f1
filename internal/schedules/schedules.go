// SPDX-License-Identifier: Apache-2.0

package schedules

import (
	"fmt"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/kinds"
)

// ReasonProviderUnreadable: the kind is installed and its objects could not be
// listed even once, for want of rights or of a connection. It is ours, beside
// the contract's four: those say what a schedule lacks, this says that we
// cannot look.
const ReasonProviderUnreadable = "ProviderUnreadable"

// Cache holds the verdict of every schedule object.
type Cache struct {
	store *kinds.Store[*schedule]
}

// schedule is what is kept of a schedule object.
type schedule struct {
	metav1.ObjectMeta
	reading contract.Reading
}

// New returns a cache that follows the schedule kinds once it is started.
func New(client dynamic.Interface, registry *kinds.Registry, log logr.Logger) *Cache {
	return &Cache{store: kinds.NewStore(kinds.StoreOptions[*schedule]{
		Registry: registry,
		Client:   client,
		Select:   func(k kinds.Kind) bool { return k.Group == contract.Group && k.Namespaced },
		Reduce:   reduce,
		Same:     func(before, after *schedule) bool { return before.reading.Equal(after.reading) },
		Log:      log,
	})}
}

func reduce(object *unstructured.Unstructured) *schedule {
	return &schedule{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(),
			UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		},
		reading: contract.ReadObject(object),
	}
}

// Store returns the cache's store, for the manager to run and for a controller
// to subscribe to.
func (c *Cache) Store() *kinds.Store[*schedule] { return c.store }

// Read returns what a schedule says. known is false while the cache has yet to
// see the kind: the caller waits to be told, and decides nothing.
func (c *Cache) Read(namespace string, ref v1beta1.ScheduleReference) (reading contract.Reading, known bool) {
	kind := schema.GroupKind{Group: contract.Group, Kind: ref.Kind}
	result := c.store.Get(kind, types.NamespacedName{Namespace: namespace, Name: ref.Name})
	switch result.State {
	case kinds.Present:
		return result.Object.reading, true
	case kinds.Absent:
		return unresolved(contract.ReasonProviderNotFound, "there is no %s %s in namespace %s", ref.Kind, ref.Name, namespace), true
	case kinds.NotInstalled:
		return unresolved(contract.ReasonProviderCRDNotInstalled, "no CRD for kind %s in group %s is installed", ref.Kind, contract.Group), true
	case kinds.Unreadable:
		return unresolved(ReasonProviderUnreadable, "cannot list %s objects: %v", ref.Kind, result.Err), true
	case kinds.Loading:
		return c.loading(result.Kind)
	}
	return contract.Reading{}, false
}

// loading tells a kind that is still being read from one that never will be.
func (c *Cache) loading(kind kinds.Kind) (contract.Reading, bool) {
	if kind.Kind != "" && !kind.Namespaced {
		return unresolved(contract.ReasonProviderCRDNotInstalled,
			"kind %s is cluster-scoped; a schedule kind is namespaced", kind.Kind), true
	}
	return contract.Reading{}, false
}

func unresolved(reason, format string, args ...any) contract.Reading {
	return contract.Reading{Verdict: contract.UnresolvedBecause(reason, "%s", fmt.Sprintf(format, args...))}
}

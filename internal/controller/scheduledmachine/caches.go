// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/workload"
)

// The Reconciler knows its caches by what it asks of them, so that a test can
// have it look at any world.

// scheduleReader is met by schedules.Cache.
type scheduleReader interface {
	Read(namespace string, ref v1beta1.ScheduleReference) (reading contract.Reading, known bool)
}

// childCache is met by a kinds.Store.
type childCache interface {
	Want(kind schema.GroupKind)
	Get(kind schema.GroupKind, name types.NamespacedName) kinds.Result[*child]
	HasAny(kind schema.GroupKind, group string) bool
	Members(kind schema.GroupKind, group string) []types.NamespacedName
	Expect(kind schema.GroupKind, name types.NamespacedName, resourceVersion string)
}

// clusterCache is met by a kinds.Store.
type clusterCache interface {
	Want(kind schema.GroupKind)
	Get(kind schema.GroupKind, name types.NamespacedName) kinds.Result[*clusterPart]
}

// workloadClusters is met by workload.Clusters.
type workloadClusters interface {
	Use(owner types.NamespacedName, reference workload.Reference, target workload.Target) workload.View
	Release(owner types.NamespacedName)
	Wrote(owner types.NamespacedName, node *corev1.Node)
}

// SPDX-License-Identifier: Apache-2.0

package system_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

func TestTenTimesUpToANodeThatIsReadyAndDownToNothingLeft(t *testing.T) {
	for name, test := range map[string]struct {
		turn func(t *testing.T, sm *v1beta1.ScheduledMachine, up bool)
		rest v1beta1.Phase
	}{
		"drained, by the schedule": {
			turn: func(t *testing.T, _ *v1beta1.ScheduledMachine, up bool) {
				t.Helper()
				toggle(t, localcluster.Namespace, "ten", up)
			},
			rest: v1beta1.PhaseInactive,
		},
		"not drained, by the kill switch": {
			turn: func(t *testing.T, sm *v1beta1.ScheduledMachine, up bool) {
				t.Helper()
				patch(t, sm, fmt.Sprintf(`{"spec":{"killSwitch":%t}}`, !up))
			},
			rest: v1beta1.PhaseTerminated,
		},
	} {
		t.Run(name, func(t *testing.T) {
			toggle(t, localcluster.Namespace, "ten", true)
			sm := machine(t, localcluster.Namespace, "ten", "ten")
			awaitPhase(t, sm, v1beta1.PhaseActive)
			test.turn(t, sm, false)
			awaitPhase(t, sm, test.rest)
			before := everything(t, localcluster.Namespace)

			uids := map[types.UID]bool{}
			for range 10 {
				test.turn(t, sm, true)
				awaitPhase(t, sm, v1beta1.PhaseActive)
				uids[capiMachine(t, sm).UID] = true
				if !slices.Contains(nodes(t), sm.Status.NodeRef.Name) {
					t.Errorf("the workload cluster has no node %s", sm.Status.NodeRef.Name)
				}
				node := sm.Status.NodeRef.Name
				test.turn(t, sm, false)
				awaitPhase(t, sm, test.rest)
				if slices.Contains(nodes(t), node) {
					t.Errorf("the machine is gone and its node %s is not", node)
				}
			}
			if len(uids) != 10 {
				t.Errorf("ten times up made %d Machines", len(uids))
			}
			awaitEverything(t, localcluster.Namespace, before)
		})
	}
}

func TestDeletingAScheduledMachineEndsAndLeavesNothing(t *testing.T) {
	before := everything(t, localcluster.Namespace)
	toggle(t, localcluster.Namespace, "deleted", true)
	sm := machine(t, localcluster.Namespace, "deleted", "deleted")
	awaitPhase(t, sm, v1beta1.PhaseActive)
	if err := localclustertest.Cluster(t).Client().Delete(t.Context(), sm); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, sm)
	before[`spotschedules.5spot.finos.org/manualschedules/deleted`] = true
	awaitEverything(t, localcluster.Namespace, before)
}

// everything returns group/resource/name of every object in a namespace, but
// for events, leases, the lock that Cluster API holds while a cluster begins, and
// what the garbage collector has yet to take, since its owners are gone.
func everything(t testing.TB, namespace string) map[string]bool {
	t.Helper()
	config := localclustertest.Cluster(t).Config()
	lister, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := lister.ServerPreferredNamespacedResources()
	if err != nil {
		t.Fatal(err)
	}
	found, uids := map[string][]metav1.OwnerReference{}, map[types.UID]bool{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		for _, resource := range list.APIResources {
			if resource.Name == "events" || resource.Name == "leases" {
				continue
			}
			group, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := c.Resource(group.WithResource(resource.Name)).Namespace(namespace).List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects.Items {
				if resource.Name == "configmaps" && strings.HasSuffix(object.GetName(), "-lock") {
					continue
				}
				found[group.Group+"/"+resource.Name+"/"+object.GetName()] = object.GetOwnerReferences()
				uids[object.GetUID()] = true
			}
		}
	}
	kept := map[string]bool{}
	for name, owners := range found {
		if len(owners) == 0 || slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return uids[owner.UID] }) {
			kept[name] = true
		}
	}
	return kept
}

// awaitEverything waits until a namespace holds exactly the given objects. The
// garbage collector has no event for "done", so this looks again and again.
func awaitEverything(t testing.TB, namespace string, want map[string]bool) {
	t.Helper()
	var diff string
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		diff = cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(everything(t, namespace))))
		return diff == "", nil
	})
	if err != nil {
		t.Errorf("namespace %s holds other objects than before (-before +now):\n%s", namespace, diff)
	}
}

// nodes returns the names of the workload cluster's nodes.
func nodes(t testing.TB) []string {
	t.Helper()
	var secret corev1.Secret
	key := client.ObjectKey{Namespace: localcluster.Namespace, Name: localcluster.WorkloadClusterName + "-kubeconfig"}
	if err := localclustertest.Cluster(t).Client().Get(t.Context(), key, &secret); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list corev1.NodeList
	if err := c.List(t.Context(), &list); err != nil {
		t.Fatal(fmt.Errorf("listing the nodes of the workload cluster: %w", err))
	}
	names := make([]string, 0, len(list.Items))
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	return names
}

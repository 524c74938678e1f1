// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// follows is what an informer needs.
var follows = []string{"list", "list everywhere", "watch"}

func TestProviderMayDoWhatTheGuideSaysAndNothingElse(t *testing.T) {
	testRights(t, provider, map[string][]string{
		"manualschedules." + schedulesGroup: slices.Concat([]string{"get"}, follows, []string{"get status", "update status", "patch status"}),
	})
}

func TestControllerReadsEveryScheduleAndWritesNone(t *testing.T) {
	want := map[string][]string{
		"scheduledmachines." + machinesGroup: slices.Concat([]string{"get"}, follows, []string{"patch", "patch status"}),
		"secrets":                            follows, // kubeconfigs of workload clusters
	}
	for _, r := range resources(t) {
		if r.Group == schedulesGroup {
			want[r.GroupResource().String()] = follows
		}
	}
	testRights(t, controller, want)
}

// testRights makes every call about every resource as an account, by its own
// token and by impersonation, and compares those that are allowed.
func testRights(t *testing.T, account string, want map[string][]string) {
	t.Helper()
	for how, config := range identities(t, account) {
		t.Run(how, func(t *testing.T) {
			got := map[string][]string{}
			for _, r := range resources(t) {
				if allowed := allowedCalls(t, config, r); len(allowed) > 0 {
					got[r.GroupResource().String()] = allowed
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s may (-want +got):\n%s", account, diff)
			}
		})
	}
}

// identities returns the two ways to be a service account.
func identities(t *testing.T, account string) map[string]*rest.Config {
	t.Helper()
	plane := devplanetest.Plane(t)
	token, err := plane.ServiceAccountConfig(t.Context(), systemNamespace, account)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*rest.Config{
		"by its token": token,
		"by impersonation": plane.ImpersonatedConfig("system:serviceaccount:"+systemNamespace+":"+account,
			"system:serviceaccounts", "system:serviceaccounts:"+systemNamespace, "system:authenticated"),
	}
}

// allowedCalls makes every call about an object of its own, names those that
// are not forbidden, and checks that the others change nothing.
func allowedCalls(t *testing.T, config *rest.Config, r resource) []string {
	t.Helper()
	admin, account := dynamicClient(t, devplanetest.Plane(t).Config()), dynamicClient(t, config)
	namespace := devplanetest.Namespace(t)
	var allowed []string
	for _, call := range calls {
		if call.needsStatus && !r.hasStatus {
			continue
		}
		before := r.make(t, admin, namespace)
		err := call.do(t.Context(), account.Resource(r.GroupVersionResource), before.DeepCopy())
		switch {
		case err == nil:
			allowed = append(allowed, call.name)
		case !apierrors.IsForbidden(err):
			t.Errorf("%s %s: %v", call.name, r.Resource, err)
		}
		if changed := changedSince(t, admin, r, before); changed != (err == nil && call.writes) {
			t.Errorf("%s %s: it has changed something: %t; the answer was: %v", call.name, r.Resource, changed, err)
		}
	}
	return allowed
}

// changedSince reports whether an object has changed or gone, or another was made of it.
func changedSince(t *testing.T, admin dynamic.Interface, r resource, before *unstructured.Unstructured) bool {
	t.Helper()
	client := admin.Resource(r.GroupVersionResource).Namespace(before.GetNamespace())
	if _, err := client.Get(t.Context(), before.GetName()+"-made", metav1.GetOptions{}); err == nil {
		return true
	}
	after, err := client.Get(t.Context(), before.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	return after.GetResourceVersion() != before.GetResourceVersion()
}

func dynamicClient(t *testing.T, config *rest.Config) *dynamic.DynamicClient {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

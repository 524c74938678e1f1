// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/workload"
)

func TestAServerThatRefusesConnectionsIsUnreachable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	w.refuse()
	r.put("rack-kubeconfig", admin(t, w.server()))
	a := r.owner("a")
	view := r.fails(a, r.byName("rack"), workload.ReasonUnreachable)
	if want := "The API server " + w.server() + " refuses connections"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
	w.mend()
	r.reaches(a, r.byName("rack"), workload.Target{})
}

func TestABlackHoleHoldsNobodyUpAndIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	w.blackHole()
	r.put("rack-kubeconfig", admin(t, w.server()))
	a, other := r.owner("a"), r.owner("other")
	r.await(a, r.byName("rack"), workload.Target{}, func(v workload.View) error {
		if !strings.HasPrefix(v.Message, "The API server "+w.server()+" ") {
			return errors.New("it is not being connected to")
		}
		return nil
	})
	// While that waits for an answer, another cluster is reached.
	r.reaches(other, r.byName("elsewhere"), workload.Target{})
	view := r.fails(a, r.byName("rack"), workload.ReasonUnreachable)
	if want := "The API server " + w.server() + " does not answer in time"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
}

func TestAClusterThatFallsSilentIsNoticedAndItsNodesAreRemembered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	n := node(t, "rack", "hw://1")
	r.put("rack-kubeconfig", admin(t, w.server()))
	a, target := r.owner("a"), workload.Target{Node: n.Name}
	r.reaches(a, r.byName("rack"), target)
	w.blackHole()
	view := r.await(a, r.byName("rack"), target, func(v workload.View) error {
		if v.State != workload.Unreachable {
			return errors.New("it is not out of reach")
		}
		return nil
	})
	if view.NodeState != workload.NodePresent || view.Node.UID != n.UID || view.Client != nil {
		t.Errorf("got %+v", view)
	}
	w.mend()
	r.reaches(a, r.byName("rack"), target)
}

func TestAWriteIntoABlackHoleEndsSoonAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	r.put("rack-kubeconfig", admin(t, w.server()))
	a := r.owner("a")
	client := r.reaches(a, r.byName("rack"), workload.Target{}).Client
	w.blackHole()
	ctx, cancel := context.WithTimeout(t.Context(), devplanetest.Patience)
	defer cancel()
	_, err := client.CoreV1().Nodes().Get(ctx, "rack", metav1.GetOptions{})
	if err == nil || ctx.Err() != nil {
		t.Fatalf("the request ended with %v", err)
	}
	if got := workload.Explain(err, "read Nodes"); got != "the API server of the workload cluster does not answer in time" {
		t.Errorf("it is explained as %q", got)
	}
	if view := r.Use(a, r.byName("rack"), workload.Target{}); view.State != workload.Unreachable || view.Client != nil {
		t.Errorf("after a write without answer the view is %+v", view)
	}
	w.mend()
	r.reaches(a, r.byName("rack"), workload.Target{})
}

func TestRotatedCredentials(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	before, after := account(t, r, "before"), account(t, r, "after")
	a := r.owner("a")
	r.put("rack-kubeconfig", tokenOf(t, before, w.server()))
	client := r.reaches(a, r.byName("rack"), workload.Target{}).Client
	if err := devplanetest.Client(t).Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	// The API server takes a token that it has just seen for a while longer.
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, devplanetest.Patience, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Nodes().Get(ctx, "rack", metav1.GetOptions{})
		return apierrors.IsUnauthorized(err), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	view := r.Use(a, r.byName("rack"), workload.Target{}) // at once, though the watch may go on
	want := "The API server " + w.server() + " does not accept the kubeconfig's credentials (HTTP 401)"
	if view.State != workload.Unreachable || view.Reason != workload.ReasonUnauthorized || view.Message != want {
		t.Errorf("got %+v, want the message %q", view, want)
	}
	r.put("rack-kubeconfig", tokenOf(t, after, w.server()))
	r.reaches(a, r.byName("rack"), workload.Target{})
}

func TestAUserWithoutRightsIsForbidden(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	nobody := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "nobody"}}
	if err := devplanetest.Client(t).Create(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	r.put("rack-kubeconfig", tokenOf(t, nobody, w.server()))
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonForbidden)
	if !strings.HasSuffix(view.Message, " does not let the kubeconfig's user list and watch Nodes (HTTP 403)") {
		t.Errorf("message %q", view.Message)
	}
}

func TestASecretThatCannotBeReadIsNotTakenForAMissingOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *workload.Options) { o.Config = devplanetest.Plane(t).ImpersonatedConfig("nobody") })
	view := r.fails(r.owner("a"), r.byName("rack"), workload.ReasonKubeconfigUnreadable)
	want := "Secret rack-kubeconfig in namespace " + r.namespace + " cannot be read from the management cluster: " +
		"the controller's account lacks the right to list and watch Secrets there"
	if view.Message != want || view.Management {
		t.Errorf("got %+v, want the message %q", view, want)
	}
}

func TestASecretThatCannotBeReadWakesNobodyForEachTry(t *testing.T) {
	t.Parallel()
	tries := make(chan struct{}, 100)
	config := devplanetest.Plane(t).ImpersonatedConfig("nobody")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) {
			tries <- struct{}{}
			return next.RoundTrip(request)
		})
	})
	r := newRig(t, func(o *workload.Options) { o.Config = config })
	a := r.owner("a")
	before := r.fails(a, r.byName("rack"), workload.ReasonKubeconfigUnreadable)
	ctx := devplanetest.Context(t)
	for range 4 { // by the last, what came of those before has been told
		select {
		case <-tries:
		case <-ctx.Done():
			t.Fatal("it is not tried again")
		}
	}
	select {
	case <-r.wakes:
		t.Error("the owner was woken again, and nothing has changed")
	default:
	}
	after := r.Use(a, r.byName("rack"), workload.Target{})
	if after.Message != before.Message || !after.Since.Equal(before.Since) {
		t.Errorf("got %+v, then %+v", before, after)
	}
	want := map[string]float64{"non_404_kube_error": 1}
	if diff := cmp.Diff(want, r.counts("fivespot_child_kubeconfig_errors_total", "reason")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// An API server may answer from a cache that is behind.
func TestASecretThatACacheHasYetToSeeIsNotTakenForAMissingOne(t *testing.T) {
	t.Parallel()
	config := devplanetest.Plane(t).Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(request.URL.Path, "/secrets") || request.URL.Query().Get("resourceVersion") != "0" {
				return next.RoundTrip(request)
			}
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
				Body: io.NopCloser(strings.NewReader(`{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)),
			}, nil
		})
	})
	r := newCalmRig(t, func(o *workload.Options) { o.Config = config })
	w := newWire(t)
	r.put("rack-kubeconfig", admin(t, w.server()))
	if view := r.reaches(r.owner("a"), r.byName("rack"), workload.Target{}); view.Management {
		t.Errorf("the management cluster stands in for a cluster that has a Secret: %+v", view)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// A deployment need not give the controller all Secrets of all namespaces.
func TestTheRightToSecretsOfOneNamespaceIsEnoughForIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *workload.Options) {
		o.Config = devplanetest.Plane(t).ImpersonatedConfig("controller-of-one-namespace")
	})
	w := newWire(t)
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "kubeconfigs"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "controller-of-one-namespace"}},
	}
	c := devplanetest.Client(t)
	if err := errors.Join(c.Create(t.Context(), role), c.Create(t.Context(), binding)); err != nil {
		t.Fatal(err)
	}
	r.put("rack-kubeconfig", admin(t, w.server()))
	r.reaches(r.owner("a"), r.byName("rack"), workload.Target{})
	elsewhere := workload.Reference{Namespace: devplanetest.Namespace(t), ClusterName: "rack"}
	r.fails(r.owner("b"), elsewhere, workload.ReasonKubeconfigUnreadable)
}

// account makes a service account that may do what a controller needs.
func account(t *testing.T, r *rig, name string) *corev1.ServiceAccount {
	t.Helper()
	c := devplanetest.Client(t)
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: r.namespace + "-" + name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch", "patch"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: r.namespace, Name: name}},
	}
	if err := errors.Join(c.Create(t.Context(), made), c.Create(t.Context(), role), c.Create(t.Context(), binding)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(c.Delete(ctx, role), c.Delete(ctx, binding)); err != nil {
			t.Error(err)
		}
	})
	return made
}

// tokenOf is a kubeconfig with a token of the account.
func tokenOf(t *testing.T, account *corev1.ServiceAccount, server string) []byte {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), account.Namespace, account.Name)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig(t, config, server)
}

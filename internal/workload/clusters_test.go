// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/workload"
)

func TestWithoutASecretTheManagementClusterIsTheWorkloadCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := node(t, "rack", "hw://1")
	view := r.reaches(r.owner("a"), r.byName("rack"), workload.Target{Node: n.Name, ProviderID: "hw://1"})
	if !view.Management || view.NodeState != workload.NodePresent || view.Node.UID != n.UID {
		t.Errorf("got %+v", view)
	}
	if want := "The management cluster is the workload cluster: there is no Secret rack-kubeconfig"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
}

func TestTheSecretOfTheClusterIsTakenWhenItComes(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	w := newWire(t)
	a := r.owner("a")
	if view := r.reaches(a, r.byName("rack"), workload.Target{}); !view.Management {
		t.Fatalf("got %+v", view)
	}
	r.put("rack-kubeconfig", admin(t, w.server()))
	view := r.await(a, r.byName("rack"), workload.Target{}, func(v workload.View) error {
		if v.State != workload.Reachable || v.Management {
			return errors.New("it is not reached by the Secret")
		}
		return nil
	})
	if want := "Reached by the kubeconfig in key value of Secret rack-kubeconfig"; view.Message != want {
		t.Errorf("message %q, want %q", view.Message, want)
	}
	if open, _ := w.connections(); open != 1 {
		t.Errorf("%d connections are open, want 1", open)
	}
	r.remove("rack-kubeconfig")
	r.await(a, r.byName("rack"), workload.Target{}, func(v workload.View) error {
		if v.State != workload.Reachable || !v.Management {
			return errors.New("the management cluster does not stand in again")
		}
		return nil
	})
	w.awaitOpen(0)
}

func TestAClusterWithAControlPlaneIsNeverTheManagementCluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reference := r.byName("rack")
	reference.Remote = true
	view := r.fails(r.owner("a"), reference, workload.ReasonKubeconfigNotFound)
	if !strings.Contains(view.Message, "There is no Secret rack-kubeconfig in namespace "+r.namespace) || view.Client != nil {
		t.Errorf("got %+v", view)
	}
}

func TestANamedSecretFailsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	a, reference := r.owner("a"), r.bySecret("mine")
	r.put("unused-kubeconfig", admin(t, w.server())) // the cluster's own, which is not to be taken
	r.fails(a, reference, workload.ReasonKubeconfigNotFound)
	r.putKey("mine", "other", admin(t, w.server()))
	if view := r.await(a, reference, workload.Target{}, func(v workload.View) error {
		if !strings.Contains(v.Message, "There is no key value of Secret mine") {
			return errors.New("the missing key is not named")
		}
		return nil
	}); view.Reason != workload.ReasonKubeconfigNotFound {
		t.Errorf("reason %s", view.Reason)
	}
	r.put("mine", []byte("garbage"))
	r.fails(a, reference, workload.ReasonKubeconfigInvalid)
	r.put("mine", admin(t, w.server()))
	r.reaches(a, reference, workload.Target{})
	r.put("mine", []byte("garbage again"))
	if view := r.fails(a, reference, workload.ReasonKubeconfigInvalid); view.Client != nil {
		t.Error("it keeps the client of the kubeconfig before")
	}
	w.awaitOpen(0)
	r.remove("mine")
	r.fails(a, reference, workload.ReasonKubeconfigNotFound)
}

func TestTheKeyOfTheReferenceIsTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := newWire(t)
	reference := r.bySecret("mine")
	reference.Secret.Key = "admin.conf"
	r.putKey("mine", "admin.conf", admin(t, w.server()))
	view := r.reaches(r.owner("a"), reference, workload.Target{})
	if view.Message != "Reached by the kubeconfig in key admin.conf of Secret mine" {
		t.Errorf("message %q", view.Message)
	}
}

func TestOneConnectionServesAllMachinesOfACluster(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Date(2026, 6, 15, 9, 30, 0, 0, time.UTC))
	r := newCalmRig(t, func(o *workload.Options) { o.Clock, o.IdlePeriod = clock, time.Minute })
	w := newWire(t)
	r.put("rack-kubeconfig", admin(t, w.server()))
	for _, name := range []string{"a", "b", "c"} {
		r.reaches(r.owner(name), r.byName("rack"), workload.Target{})
	}
	if open, ever := w.connections(); open != 1 || ever != 1 {
		t.Errorf("%d connections are open and %d were, want 1", open, ever)
	}
	r.Release(r.owner("a"))
	r.Release(r.owner("b"))
	clock.Step(2 * time.Minute)
	if view := r.Use(r.owner("c"), r.byName("rack"), workload.Target{}); view.State != workload.Reachable {
		t.Errorf("a cluster in use was closed: %+v", view)
	}
	r.Release(r.owner("c"))
	clock.Step(59 * time.Second)
	if open, _ := w.connections(); open != 1 {
		t.Error("an idle connection was closed too early")
	}
	clock.Step(2 * time.Second)
	w.awaitOpen(0)
}

// Whoever still holds a client of a kubeconfig that was replaced must not go on with it.
func TestAClientOfAReplacedKubeconfigConnectsToNothing(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	before, after := newWire(t), newWire(t)
	r.put("rack-kubeconfig", admin(t, before.server()))
	a := r.owner("a")
	client := r.reaches(a, r.byName("rack"), workload.Target{}).Client
	r.put("rack-kubeconfig", admin(t, after.server()))
	after.awaitOpen(1)
	before.awaitOpen(0)
	r.reaches(a, r.byName("rack"), workload.Target{})
	_, ever := before.connections()
	_, err := client.CoreV1().Nodes().Get(t.Context(), "rack", metav1.GetOptions{})
	if err == nil || apierrors.IsNotFound(err) {
		t.Errorf("the request ended with %v", err)
	}
	if want, got := "the API server of the workload cluster is no longer spoken to by way of a kubeconfig that was replaced or taken away", workload.Explain(err, "read Nodes"); got != want {
		t.Errorf("it is explained as %q, want %q", got, want)
	}
	if open, now := before.connections(); open > 0 || now > ever {
		t.Errorf("%d connections are open, and %d were made", open, now-ever)
	}
	if view := r.Use(a, r.byName("rack"), workload.Target{}); view.State != workload.Reachable {
		t.Errorf("the new connection is taken for the old: %+v", view)
	}
}

func TestThereAreNoMoreClustersThanTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *workload.Options) { o.Limit = 1 })
	one, two := newWire(t), newWire(t)
	r.put("one-kubeconfig", admin(t, one.server()))
	r.put("two-kubeconfig", admin(t, two.server()))
	a, b := r.owner("a"), r.owner("b")
	r.reaches(a, r.byName("one"), workload.Target{})
	refused := r.fails(b, r.byName("two"), workload.ReasonTooManyClusters)
	if want := "The controller follows 1 workload clusters already and no more"; refused.Message != want {
		t.Errorf("message %q, want %q", refused.Message, want)
	}
	if again := r.Use(b, r.byName("two"), workload.Target{}); !again.Since.Equal(refused.Since) {
		t.Errorf("since %s, then %s", refused.Since, again.Since)
	}
	r.Release(a)
	r.reaches(b, r.byName("two"), workload.Target{}) // it is woken
	one.awaitOpen(0)
}

func TestOnlyTheMachineOfANodeIsWoken(t *testing.T) {
	t.Parallel()
	r := newCalmRig(t)
	w := newWire(t)
	r.put("rack-kubeconfig", admin(t, w.server()))
	mine, other, last := node(t, "mine", "hw://1"), node(t, "other", "hw://2"), node(t, "last", "hw://3")
	sees := func(owner string, n *corev1.Node, check func(*workload.Node) bool) *workload.Node {
		t.Helper()
		return r.await(r.owner(owner), r.byName("rack"), workload.Target{Node: n.Name}, func(v workload.View) error {
			if v.NodeState != workload.NodePresent || !check(v.Node) {
				return fmt.Errorf("Node %s is not seen as it is", n.Name)
			}
			return nil
		}).Node
	}
	at := time.Date(2026, 6, 15, 9, 30, 0, 0, time.UTC)
	ready := false
	// woken returns who was woken by now, but for the one who looks at the last Node.
	woken := func() map[string]int {
		t.Helper()
		ready = !ready
		status := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[ready]
		setReady(t, last, status, at)
		sees("last", last, func(n *workload.Node) bool { return n.Ready == ready })
		woken := r.takeWoken()
		delete(woken, "last")
		return woken
	}
	r.reaches(r.owner("last"), r.byName("rack"), workload.Target{Node: last.Name}) // and is woken for the Secret
	present := func(*workload.Node) bool { return true }
	sees("a", mine, present)
	sees("b", other, present)
	woken()

	setReady(t, mine, corev1.ConditionTrue, at)
	view := sees("a", mine, func(n *workload.Node) bool { return n.Ready })
	if diff := cmp.Diff(map[string]int{"a": 1}, woken()); diff != "" {
		t.Errorf("woken for a Node that is ready (-want +got):\n%s", diff)
	}

	setReady(t, mine, corev1.ConditionTrue, at.Add(time.Minute)) // a heartbeat changes nothing
	setReady(t, other, corev1.ConditionUnknown, at)
	seen := sees("b", other, func(n *workload.Node) bool { return n.Unreachable })
	if diff := cmp.Diff(map[string]int{"b": 1}, woken()); diff != "" {
		t.Errorf("woken for a Node that is unreachable (-want +got):\n%s", diff)
	}
	if seen.Ready {
		t.Error("a Node whose state is unknown is ready")
	}
	if now := sees("a", mine, present); now.ResourceVersion == view.ResourceVersion {
		t.Error("the resource version is not that of the last heartbeat")
	}
}

func TestANodeIsKnownByItsProviderID(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := node(t, "rack", "hw://somebody-elses")
	a := r.owner("a")
	tests := map[string]struct {
		target workload.Target
		want   workload.NodeState
	}{
		"its own":              {workload.Target{Node: n.Name, ProviderID: "hw://somebody-elses"}, workload.NodePresent},
		"another machine's":    {workload.Target{Node: n.Name, ProviderID: "hw://mine"}, workload.NodeForeign},
		"no provider ID known": {workload.Target{Node: n.Name}, workload.NodePresent},
		"no such Node":         {workload.Target{Node: "missing-" + n.Name}, workload.NodeAbsent},
		"no Node yet":          {workload.Target{}, workload.NodeUnknown},
	}
	r.reaches(a, r.byName("rack"), workload.Target{})
	for name, test := range tests {
		view := r.Use(a, r.byName("rack"), test.target)
		if view.NodeState != test.want || (view.Node != nil) != (test.want == workload.NodePresent) {
			t.Errorf("%s: state %d, Node %v; want %d", name, view.NodeState, view.Node, test.want)
		}
	}
}

func TestAWriterReadsItsWrites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	n := node(t, "rack", "hw://1")
	a, target := r.owner("a"), workload.Target{Node: n.Name}
	r.await(a, r.byName("rack"), target, func(v workload.View) error {
		if v.NodeState != workload.NodePresent {
			return errors.New("the Node is not seen")
		}
		return nil
	})
	for i := range 20 {
		n.Spec.Taints = []corev1.Taint{{Key: "example.com/n", Value: strconv.Itoa(i), Effect: corev1.TaintEffectNoSchedule}}
		if err := devplanetest.Client(t).Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		r.Wrote(a, n)
		// Whether the watch has brought this write or one before it, or none yet.
		view := r.Use(a, r.byName("rack"), target)
		if got := view.Node.Taints[0].Value; got != strconv.Itoa(i) {
			t.Fatalf("after write %d the view has %s", i, got)
		}
	}
	if err := devplanetest.Client(t).Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	r.await(a, r.byName("rack"), target, func(v workload.View) error {
		if v.NodeState != workload.NodeAbsent {
			return errors.New("the Node is not seen to go")
		}
		return nil
	})
	r.Wrote(a, n) // what a slow writer says of it does not bring it back
	if view := r.Use(a, r.byName("rack"), target); view.NodeState != workload.NodeAbsent {
		t.Error("a write that came late has brought a Node back")
	}
}

func TestReleasingAStrangerDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Release(types.NamespacedName{Namespace: "x", Name: "y"})
	r.Wrote(types.NamespacedName{Namespace: "x", Name: "y"}, &corev1.Node{})
}

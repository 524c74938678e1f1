// SPDX-License-Identifier: Apache-2.0

package taints_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/taints"
	"github.com/fivespot/fivespot/internal/workload"
)

func TestMain(m *testing.M) { devplanetest.Main(m) }

// machine is a Node, and what a ScheduledMachine's status says of it.
type machine struct {
	t        *testing.T
	client   *kubernetes.Clientset
	node     *corev1.Node
	recorded []v1beta1.NodeTaint
}

func newMachine(t *testing.T, already ...corev1.Taint) *machine {
	t.Helper()
	client, err := kubernetes.NewForConfig(devplanetest.Plane(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, client: client}
	m.node, err = m.nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "rack-"}, Spec: corev1.NodeSpec{Taints: already},
	}, metav1.CreateOptions{FieldManager: "kubelet"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := m.nodes().Delete(context.WithoutCancel(t.Context()), m.node.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return m
}

func (m *machine) nodes() corev1client.NodeInterface { return m.client.CoreV1().Nodes() }

// see returns the Node as workload.Clusters would.
func (m *machine) see() *workload.Node {
	m.t.Helper()
	node, err := m.nodes().Get(m.t.Context(), m.node.Name, metav1.GetOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	return workload.NodeOf(node)
}

// want brings the taints of a spec onto the Node.
func (m *machine) want(wanted ...v1beta1.NodeTaint) {
	m.t.Helper()
	plan := taints.Make(wanted, m.recorded, m.see())
	if plan.Pending() {
		if _, err := taints.Apply(m.t.Context(), m.client, plan); err != nil {
			m.t.Fatal(err)
		}
	}
	m.recorded = plan.Owned
}

// others replaces the list of taints as the node lifecycle controller does.
func (m *machine) others(list ...corev1.Taint) {
	m.t.Helper()
	_, err := m.nodes().Patch(m.t.Context(), m.node.Name, types.StrategicMergePatchType,
		encode(m.t, map[string]any{"spec": map[string]any{"taints": list}}), metav1.PatchOptions{FieldManager: "kube-controller-manager"})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) expect(annotation string, list ...string) {
	m.t.Helper()
	node := m.see()
	var got []string
	for _, taint := range node.Taints {
		got = append(got, taint.Key+"="+taint.Value+":"+string(taint.Effect))
	}
	if diff := cmp.Diff(list, got); diff != "" {
		m.t.Errorf("taints of the Node (-want +got):\n%s", diff)
	}
	if got := node.Annotations[v1beta1.AnnotationAppliedTaints]; got != annotation {
		m.t.Errorf("annotation %q, want %q", got, annotation)
	}
}

func TestTaintsComeAndGoBesideThoseOfOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, on("example.com/theirs", "t", noSchedule))
	desk, spot := of("example.com/desk", "a", noSchedule), of("example.com/spot", "", noExecute)
	m.want(desk, spot)
	m.expect(`[{"key":"example.com/desk","effect":"NoSchedule"},{"key":"example.com/spot","effect":"NoExecute"}]`,
		"example.com/theirs=t:NoSchedule", "example.com/desk=a:NoSchedule", "example.com/spot=:NoExecute")
	if by := m.see().TaintsWrittenBy; by != "5spot-controller-node-taints" {
		t.Errorf("the list was written by %q", by)
	}

	m.others(on("example.com/theirs", "t", noSchedule), on("example.com/spot", "changed", noExecute)) // and ours is gone
	if by := m.see().TaintsWrittenBy; by != "kube-controller-manager" {
		t.Errorf("the list was written by %q", by)
	}
	m.want(desk, spot)
	m.expect(`[{"key":"example.com/desk","effect":"NoSchedule"},{"key":"example.com/spot","effect":"NoExecute"}]`,
		"example.com/theirs=t:NoSchedule", "example.com/spot=:NoExecute", "example.com/desk=a:NoSchedule")

	m.want(spot)
	m.expect(`[{"key":"example.com/spot","effect":"NoExecute"}]`, "example.com/theirs=t:NoSchedule", "example.com/spot=:NoExecute")
	m.want()
	m.expect("", "example.com/theirs=t:NoSchedule")
}

func TestNothingOfOursStaysOnceNothingIsWanted(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.want(of("example.com/desk", "a", noSchedule))
	m.want()
	node, err := m.nodes().Get(t.Context(), m.node.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.Spec.Taints != nil {
		t.Errorf("taints %v", node.Spec.Taints)
	}
	for _, entry := range node.ManagedFields {
		if entry.Manager == v1beta1.FieldManagerNodeTaints {
			t.Errorf("it still manages %s", entry.FieldsV1)
		}
	}
}

func TestAConflictIsNotOverwritten(t *testing.T) {
	t.Parallel()
	m := newMachine(t, on("example.com/desk", "theirs", noSchedule))
	m.want(of("example.com/desk", "ours", noSchedule))
	m.expect("", "example.com/desk=theirs:NoSchedule")
	if before, after := m.node.ResourceVersion, m.see().ResourceVersion; before != after {
		t.Error("a plan that has nothing to write has written")
	}
	m.want() // no longer wanted, and not taken away either
	m.expect("", "example.com/desk=theirs:NoSchedule")
}

func TestAPlanForAStateThatHasPassedWritesNothing(t *testing.T) {
	t.Parallel()
	desk := []v1beta1.NodeTaint{of("example.com/desk", "a", noSchedule)}
	for name, test := range map[string]struct {
		recorded, wanted []v1beta1.NodeTaint
		already          []corev1.Taint
	}{
		"while something is ours": {nil, desk, nil},
		"once nothing is":         {desk, nil, []corev1.Taint{on("example.com/desk", "a", noSchedule)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, test.already...)
			stale := func(when string) {
				t.Helper()
				plan := taints.Make(test.wanted, test.recorded, workload.NodeOf(m.node))
				if _, err := taints.Apply(t.Context(), m.client, plan); !taints.Stale(err) {
					t.Errorf("on a Node that %s: %v", when, err)
				}
			}
			m.others(on("node.kubernetes.io/unreachable", "", noExecute))
			stale("has changed")
			m.expect("", "node.kubernetes.io/unreachable=:NoExecute")

			if err := m.nodes().Delete(t.Context(), m.node.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			stale("has gone")
			if _, err := m.nodes().Get(t.Context(), m.node.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Fatalf("a Node that has gone was made anew (%v)", err)
			}

			again := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.node.Name}}
			if _, err := m.nodes().Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			stale("is another one")
			m.expect("")
		})
	}
}

func TestAHeartbeatDoesNotComeBetween(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	plan := taints.Make([]v1beta1.NodeTaint{of("example.com/desk", "a", noSchedule)}, nil, m.see())
	m.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if _, err := m.nodes().UpdateStatus(t.Context(), m.node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := taints.Apply(t.Context(), m.client, plan); err != nil {
		t.Fatal(err)
	}
	m.expect(`[{"key":"example.com/desk","effect":"NoSchedule"}]`, "example.com/desk=a:NoSchedule")
}

// heart is a client of an API server by way of which a Node changes before each
// write in what does not matter, and which may answer no questions.
func (m *machine) heart(answersReads bool) *kubernetes.Clientset {
	m.t.Helper()
	beats := 0
	config := devplanetest.Plane(m.t).Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) {
			switch {
			case request.Method == http.MethodPatch:
				beats++
				m.heartbeat(beats)
			case request.Method == http.MethodGet && !answersReads:
				return &http.Response{
					StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
					Body: io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","code":503}`)),
				}, nil
			}
			return next.RoundTrip(request)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		m.t.Fatal(err)
	}
	return client
}

func (m *machine) heartbeat(n int) {
	m.t.Helper()
	body := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","message":"%d"}]}}`, n)
	if _, err := m.nodes().PatchStatus(m.t.Context(), m.node.Name, []byte(body)); err != nil {
		m.t.Error(err)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Nobody is woken by a heartbeat, so that nobody would try again.
func TestWhatNobodyIsWokenByIsNotCalledAChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answersReads bool
		message      string
	}{
		"heartbeats without end":                                  {true, "answers a request to patch Nodes with HTTP 409"},
		"a heartbeat, and an API server that is too busy to tell": {false, "answers a request to patch Nodes with HTTP 503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			plan := taints.Make([]v1beta1.NodeTaint{of("example.com/desk", "a", noSchedule)}, nil, m.see())
			_, err := taints.Apply(t.Context(), m.heart(test.answersReads), plan)
			if err == nil || taints.Stale(err) {
				t.Fatalf("it ended with %v", err)
			}
			if got := taints.Condition(plan, err).Message; !strings.HasSuffix(got, test.message) {
				t.Errorf("message %q", got)
			}
		})
	}
}

func TestWritersAtTheSameTimeLoseNothing(t *testing.T) {
	t.Parallel()
	const rounds = 40
	m := newMachine(t)
	wanted := []v1beta1.NodeTaint{of("example.com/desk", "a", noSchedule), of("example.com/spot", "", noExecute)}
	group, ctx := errgroup.WithContext(t.Context())
	group.Go(func() error { // the node lifecycle controller: whole list, resource version
		for i := range rounds {
			err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				node, err := m.nodes().Get(ctx, m.node.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				list := slices.DeleteFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == "node.kubernetes.io/n" })
				node.Spec.Taints = slices.Insert(list, 0, on("node.kubernetes.io/n", strconv.Itoa(i), noSchedule))
				_, err = m.nodes().Update(ctx, node, metav1.UpdateOptions{FieldManager: "kube-controller-manager"})
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		var recorded []v1beta1.NodeTaint
		for i := 0; i < rounds; {
			node, err := m.nodes().Get(ctx, m.node.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			plan := taints.Make(wanted[:1+i%2], recorded, workload.NodeOf(node)) // spot comes and goes
			if plan.Pending() {
				if _, err = taints.Apply(ctx, m.client, plan); taints.Stale(err) {
					continue
				}
			}
			if err != nil {
				return err
			}
			recorded = plan.Owned
			i++
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	node := m.see()
	want := []corev1.Taint{
		on("example.com/desk", "a", noSchedule), on("example.com/spot", "", noExecute),
		on("node.kubernetes.io/n", strconv.Itoa(rounds-1), noSchedule),
	}
	slices.SortFunc(node.Taints, func(a, b corev1.Taint) int { return strings.Compare(a.Key, b.Key) })
	if diff := cmp.Diff(want, node.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
}

// What docs/decisions/0013 rests on: why not only our taints are sent, and not
// without UID and resource version.
func TestTheAPIServerTakesTaintsAsOneValue(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.others(on("example.com/theirs", "", noSchedule))
	desk := map[string]any{"taints": []corev1.Taint{on("example.com/desk", "", noSchedule)}}
	apply := func(force bool, metadata, spec map[string]any) error {
		body := encode(t, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec})
		_, err := m.nodes().Patch(t.Context(), m.node.Name, types.ApplyPatchType, body,
			metav1.PatchOptions{FieldManager: "somebody", Force: &force})
		return err
	}
	name := map[string]any{"name": m.node.Name}
	if err := apply(false, name, desk); !apierrors.IsConflict(err) {
		t.Errorf("one taint alone, without force: %v, want a conflict", err)
	}
	if err := apply(true, name, desk); err != nil {
		t.Fatal(err)
	}
	m.expect("", "example.com/desk=:NoSchedule") // theirs is gone
	if err := apply(true, name, nil); err != nil {
		t.Fatal(err)
	}
	m.expect("") // all are gone

	seen := m.see()
	if err := m.nodes().Delete(t.Context(), m.node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	locked := map[string]any{"name": m.node.Name, "resourceVersion": seen.ResourceVersion, "uid": seen.UID}
	if err := apply(true, locked, desk); err == nil {
		t.Error("with the UID of a Node that has gone it was applied")
	}
	delete(locked, "uid")
	if err := apply(true, locked, desk); err != nil {
		t.Errorf("with its resource version alone: %v, want that it is made anew", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/drain"
)

func TestMain(m *testing.M) { devplanetest.MainWith(m, devplane.Options{Disruption: true}) }

var now = time.Date(2026, 6, 15, 17, 0, 0, 0, time.UTC)

// rack is a Node with pods, and a client that notes what is asked of the API server.
type rack struct {
	t         *testing.T
	namespace string
	node      *corev1.Node
	client    *kubernetes.Clientset

	mu         sync.Mutex
	evictions  []string // pods that were asked to go, in order
	answer     *answer  // to evictions, in place of the API server's; may be nil
	answerTo   string   // the only pod that answer is for; empty: all
	daemonSets *answer  // to questions for DaemonSets; may be nil

	daemonSetsRead int
}

func newRack(t *testing.T) *rack {
	t.Helper()
	r := &rack{t: t, namespace: devplanetest.Namespace(t)}
	config := devplanetest.Plane(t).Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) { return r.note(next, request) })
	})
	var err error
	if r.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	r.node, err = r.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "rack-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := r.client.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), r.node.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return r
}

type answer struct {
	code       int
	kind, body string
	err        error
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (r *rack) note(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	path, eviction := strings.CutSuffix(request.URL.Path, "/eviction")
	pod := path[strings.LastIndex(path, "/")+1:]
	var answer *answer
	r.mu.Lock()
	switch {
	case eviction:
		r.evictions = append(r.evictions, pod)
		if r.answerTo == "" || r.answerTo == pod {
			answer = r.answer
		}
	case strings.Contains(path, "/daemonsets/"):
		r.daemonSetsRead++
		answer = r.daemonSets
	}
	r.mu.Unlock()
	if answer == nil {
		return next.RoundTrip(request)
	}
	return &http.Response{
		StatusCode: answer.code, Header: http.Header{"Content-Type": {answer.kind}},
		Body: io.NopCloser(strings.NewReader(answer.body)), Request: request,
	}, answer.err
}

// asked returns the evictions since the last call.
func (r *rack) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.evictions
	r.evictions = nil
	return asked
}

// pod makes a running pod on the Node.
func (r *rack) pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	r.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: r.node.Name, Containers: []corev1.Container{{Name: "work", Image: "work"}},
			TerminationGracePeriodSeconds: new(int64(30)),
		},
	}
	for _, change := range changes {
		change(pod)
	}
	made, err := r.client.CoreV1().Pods(r.namespace).Create(r.t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	made.Status.Phase = corev1.PodRunning
	if pod.Status.Phase != "" {
		made.Status.Phase = pod.Status.Phase
	}
	made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if made, err = r.client.CoreV1().Pods(r.namespace).UpdateStatus(r.t.Context(), made, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	return made
}

// daemonPod makes a pod of a DaemonSet.
func (r *rack) daemonPod(name string) {
	r.t.Helper()
	daemons, err := r.client.AppsV1().DaemonSets(r.namespace).Create(r.t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "work", Image: "work"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	owner := metav1.NewControllerRef(daemons, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	r.pod(name, func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{*owner} })
}

// end plays the kubelet, once a pod's time is over.
func (r *rack) end(names ...string) {
	r.t.Helper()
	for _, name := range names {
		err := r.client.CoreV1().Pods(r.namespace).Delete(r.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// budget lets no pod of a name go.
func (r *rack) budget(name string) {
	r.t.Helper()
	r.budgetNamed(name+"-must-run", name)
}

func (r *rack) budgetNamed(budgetName, name string) {
	r.t.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: budgetName},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
		},
	}
	if err := devplanetest.Client(r.t).Create(r.t.Context(), budget); err != nil {
		r.t.Fatal(err)
	}
	devplanetest.Await(r.t, budget, func() error {
		if budget.Status.ExpectedPods != 1 || budget.Status.CurrentHealthy != 1 {
			return fmt.Errorf("the disruption controller has not seen the pod: %+v", budget.Status)
		}
		return nil
	})
}

func (r *rack) step(changes ...func(*drain.Options)) drain.Progress {
	r.t.Helper()
	options := drain.Options{UID: r.node.UID, Now: now}
	for _, change := range changes {
		change(&options)
	}
	progress, err := drain.Step(r.t.Context(), r.client, r.node.Name, options)
	if err != nil {
		r.t.Fatal(err)
	}
	return progress
}

func (r *rack) cordoned() bool {
	r.t.Helper()
	node, err := r.client.CoreV1().Nodes().Get(r.t.Context(), r.node.Name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return node.Spec.Unschedulable
}

func TestADrainGoesOnUntilNoPodIsLeft(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("web")
	r.pod("scratch", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	})
	first := r.step()
	want := drain.Progress{
		Leaving:   []drain.Pod{{Namespace: r.namespace, Name: "scratch"}, {Namespace: r.namespace, Name: "web"}},
		Evictions: drain.Evictions{Accepted: 2},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first step (-want +got):\n%s", diff)
	}
	if !r.cordoned() {
		t.Error("the Node is not cordoned")
	}
	if diff := cmp.Diff([]string{"scratch", "web"}, r.asked()); diff != "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
	want.Evictions = drain.Evictions{}
	if diff := cmp.Diff(want, r.step()); diff != "" {
		t.Errorf("second step (-want +got):\n%s", diff)
	}
	if asked := r.asked(); len(asked) > 0 {
		t.Errorf("%v were asked twice", asked)
	}
	r.end("web", "scratch")
	if last := r.step(); !last.Done {
		t.Errorf("last step: %+v", last)
	}
}

func TestPodsThatADrainLeavesAlone(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.daemonPod("agent")
	r.pod("static", func(p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		// A mirror pod is controlled by its Node.
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(r.node, corev1.SchemeGroupVersion.WithKind("Node"))}
	})
	r.pod("marked", func(p *corev1.Pod) { p.Labels["cluster.x-k8s.io/drain"] = "skip" })
	if got := r.step(); !got.Done {
		t.Errorf("got %+v", got)
	}
	if asked := r.asked(); len(asked) > 0 {
		t.Errorf("%v were asked to go", asked)
	}
}

func TestAPodThatIsToCompleteIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("job", func(p *corev1.Pod) { p.Labels["cluster.x-k8s.io/drain"] = "wait-completed" })
	want := drain.Progress{Waiting: []drain.Pod{{Namespace: r.namespace, Name: "job"}}}
	if diff := cmp.Diff(want, r.step()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if asked := r.asked(); len(asked) > 0 {
		t.Errorf("%v were asked to go", asked)
	}
	r.end("job")
	if got := r.step(); !got.Done {
		t.Errorf("got %+v", got)
	}
}

func TestABudgetInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("batch")
	r.pod("web")
	r.budget("web")
	got := r.step()
	want := drain.Progress{
		Leaving: []drain.Pod{{Namespace: r.namespace, Name: "batch"}},
		Blocked: []drain.Pod{{
			Namespace: r.namespace, Name: "web",
			Why: "The disruption budget web-must-run needs 1 healthy pods and has 1 currently",
		}},
		Evictions: drain.Evictions{Accepted: 1, Refused: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	message := "Waiting for pods: " + r.namespace + "/web (The disruption budget web-must-run needs 1 healthy pods and has 1 currently) cannot be evicted; " +
		r.namespace + "/batch to end"
	if got.Message() != message {
		t.Errorf("message\n%q, want\n%q", got.Message(), message)
	}

	err := r.client.PolicyV1().PodDisruptionBudgets(r.namespace).Delete(t.Context(), "web-must-run", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.asked()
	if got := r.step(); len(got.Blocked) > 0 || len(got.Leaving) != 2 {
		t.Errorf("without the budget: %+v", got)
	}
	if diff := cmp.Diff([]string{"web"}, r.asked()); diff != "" {
		t.Errorf("evictions (-want +got):\n%s", diff)
	}
}

func TestAFinishedPodIsNotWaitedForToComplete(t *testing.T) {
	t.Parallel()
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			r := newRack(t)
			r.pod("job", func(p *corev1.Pod) {
				p.Labels["cluster.x-k8s.io/drain"] = "wait-completed"
				p.Status.Phase = phase
			})
			if got := r.step(); len(got.Waiting) > 0 {
				t.Errorf("got %+v", got)
			}
			if got := r.step(); !got.Done {
				t.Errorf("second step: %+v", got)
			}
		})
	}
}

func TestAPodThatCannotBeEvictedKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	status := func(code int) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"WORDS","code":%d}`, code)
	}
	for name, test := range map[string]struct {
		answer answer
		why    string
	}{
		"an eviction that fails": {
			answer{http.StatusInternalServerError, "application/json", status(http.StatusInternalServerError), nil},
			"the API server answers with HTTP 500, as it does where several disruption budgets select the pod",
		},
		"a policy of the cluster, or no right": {
			answer{http.StatusForbidden, "application/json", status(http.StatusForbidden), nil},
			"the API server answers with HTTP 403: the kubeconfig's user lacks the right, or a policy of the cluster forbids it",
		},
		"a webhook": {
			answer{http.StatusBadRequest, "application/json", status(http.StatusBadRequest), nil},
			"the API server answers with HTTP 400",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRack(t)
			r.pod("first")
			r.pod("second")
			r.answer, r.answerTo = &test.answer, "first"
			want := drain.Progress{
				Leaving:   []drain.Pod{{Namespace: r.namespace, Name: "second"}},
				Blocked:   []drain.Pod{{Namespace: r.namespace, Name: "first", Why: test.why}},
				Evictions: drain.Evictions{Accepted: 1, Failed: 1},
			}
			if diff := cmp.Diff(want, r.step()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodThatTwoBudgetsSelectIsNamed(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("batch")
	r.pod("aweb")
	r.budget("aweb")
	r.budgetNamed("another", "aweb")
	got := r.step()
	if len(got.Blocked) != 1 || got.Blocked[0].Name != "aweb" || !strings.Contains(got.Blocked[0].Why, "several disruption budgets") {
		t.Errorf("got %+v", got)
	}
	if len(got.Leaving) != 1 || got.Leaving[0].Name != "batch" {
		t.Errorf("the other pod was not asked to go: %+v", got)
	}
}

func TestWhyADaemonSetCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.daemonPod("agent")
	r.daemonPod("monitor")
	r.daemonSets = &answer{http.StatusForbidden, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, nil}
	if got, err := drain.Step(t.Context(), r.client, r.node.Name, drain.Options{UID: r.node.UID, Now: now}); !apierrors.IsForbidden(err) {
		t.Errorf("got %+v, error %v", got, err)
	}
	if r.daemonSetsRead != 1 {
		t.Errorf("%d DaemonSets were asked for, want no more once one could not be read", r.daemonSetsRead)
	}
}

func TestPodsOnANodeThatDoesNotReportAreNotWaitedForForLong(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("web")
	r.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	if _, err := r.client.CoreV1().Nodes().UpdateStatus(t.Context(), r.node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.step()
	pod, err := r.client.CoreV1().Pods(r.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds != 1 {
		t.Errorf("the pod has %v seconds to end, want 1", pod.DeletionGracePeriodSeconds)
	}
	at := func(after time.Duration) func(*drain.Options) {
		return func(o *drain.Options) { o.Now = pod.DeletionTimestamp.Add(after) }
	}
	if got := r.step(at(time.Second)); got.Done {
		t.Error("it is not waited for until its time is over")
	}
	if got := r.step(at(2 * time.Second)); !got.Done {
		t.Errorf("after its time it is still waited for: %+v", got)
	}
}

func TestNoMorePodsAreAskedAtOnceThanTheLimit(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	for i := range 5 {
		r.pod(fmt.Sprintf("pod-%d", i))
	}
	two := func(o *drain.Options) { o.Evictions = 2 }
	for _, want := range []int{3, 1, 0} {
		if got := r.step(two); got.Untried != want || len(got.Leaving) != 5-want || got.Done {
			t.Errorf("got %+v, want %d untried", got, want)
		}
	}
}

// Whoever takes the steps has other things to look at, such as a kill switch.
func TestASlowAPIServerMakesNoStepLong(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	for i := range 3 {
		r.pod(fmt.Sprintf("pod-%d", i))
	}
	short := func(o *drain.Options) { o.Time = time.Nanosecond }
	for _, want := range []int{2, 1, 0} {
		if got := r.step(short); got.Untried != want || len(got.Leaving) != 3-want || got.Done {
			t.Errorf("got %+v, want %d untried", got, want)
		}
	}
}

func TestAnotherNodeOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("web")
	got := r.step(func(o *drain.Options) { o.UID = "an-earlier-one" })
	if !got.Done || r.cordoned() || len(r.asked()) > 0 {
		t.Errorf("got %+v", got)
	}
	if err := drain.DeleteNode(t.Context(), r.client, r.node.Name, "an-earlier-one"); err != nil {
		t.Error(err)
	}
	r.cordoned() // it is there
	if err := drain.DeleteNode(t.Context(), r.client, r.node.Name, r.node.UID); err != nil {
		t.Error(err)
	}
	if _, err := r.client.CoreV1().Nodes().Get(t.Context(), r.node.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Node was not deleted: %v", err)
	}
	if err := drain.DeleteNode(t.Context(), r.client, r.node.Name, r.node.UID); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	if got := r.step(); !got.Done {
		t.Errorf("draining what is gone: %+v", got)
	}
}

func TestAServerWithoutEvictionsIsNotTakenForOneWithoutPods(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]answer{
		"a page": {http.StatusNotFound, "text/plain", "404: Page Not Found", nil},
		"a status": {http.StatusNotFound, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure",` +
			`"message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRack(t)
			r.pod("web")
			r.answer = &answer
			if got, err := drain.Step(t.Context(), r.client, r.node.Name, drain.Options{UID: r.node.UID, Now: now}); !apierrors.IsNotFound(err) {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}

func TestAServerThatDoesNotAnswerIsAnError(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("web")
	broken := errors.New("the connection broke")
	r.answer = &answer{err: broken}
	if got, err := drain.Step(t.Context(), r.client, r.node.Name, drain.Options{UID: r.node.UID, Now: now}); !errors.Is(err, broken) || got.Done || got.Evictions.Failed != 1 {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestWhatABudgetSaysIsCutShort(t *testing.T) {
	t.Parallel()
	r := newRack(t)
	r.pod("web")
	r.answer = &answer{http.StatusTooManyRequests, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure",` +
		`"reason":"TooManyRequests","code":429,"message":"WORDS",` +
		`"details":{"causes":[{"reason":"DisruptionBudget","message":"` + strings.Repeat("é\\u001b", 500) + `"}]}}`, nil}
	got := r.step()
	if want := strings.Repeat("é", 100) + "…"; len(got.Blocked) != 1 || got.Blocked[0].Why != want {
		t.Errorf("got %+v", got)
	}
	if message := (drain.Progress{Done: true}).Message(); message != "No pod is left to wait for" {
		t.Errorf("message %q", message)
	}
}

func TestAMessageNamesAFewPodsAndCountsTheRest(t *testing.T) {
	t.Parallel()
	progress := drain.Progress{Untried: 7}
	for i := range 5 {
		progress.Leaving = append(progress.Leaving, drain.Pod{Namespace: "trading", Name: fmt.Sprintf("web-%d", i)})
	}
	want := "Waiting for pods: trading/web-0, trading/web-1, trading/web-2 and 2 more to end; 7 more to be asked"
	if got := progress.Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

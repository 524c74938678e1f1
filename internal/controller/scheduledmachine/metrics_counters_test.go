// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/drain"
	"github.com/fivespot/fivespot/internal/workload"
)

// gauged are metrics on a registry of their own.
type gauged struct {
	*testing.T
	*metrics
	registry *prometheus.Registry
}

func newGauged(t *testing.T) *gauged {
	t.Helper()
	g := &gauged{T: t, registry: prometheus.NewRegistry()}
	var err error
	if g.metrics, err = newMetrics(g.registry); err != nil {
		t.Fatal(err)
	}
	return g
}

// values returns the series of a metric that are not zero: by the values of their
// labels, one after the other; of a histogram, how much was observed.
func (g *gauged) values(name string) map[string]float64 {
	g.Helper()
	return valuesOf(g.T, g.registry, name)
}

func valuesOf(t *testing.T, from prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found, values := false, map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		found = true
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, pair := range metric.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			values[strings.Join(labels, " ")] = valueOf(metric)
		}
	}
	if !found {
		t.Fatalf("there is no metric %s", name)
	}
	maps.DeleteFunc(values, func(_ string, value float64) bool { return value == 0 })
	return values
}

func valueOf(metric *dto.Metric) float64 {
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetHistogram().GetSampleSum()
}

// want holds what has changed since the registry was new against what a test wants.
func (g *gauged) want(name string, want map[string]float64) {
	g.Helper()
	if diff := cmp.Diff(want, g.values(name)); diff != "" {
		g.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestMetricsNameNoObject(t *testing.T) {
	g := newGauged(t)
	seen := nothing()
	seen.reading, seen.readingKnown = reading(contract.Unresolved), true
	f := judge(rack(), seen, noon, limits{})
	g.judged(&f)
	status := describe(f)
	g.wrote(&f, &status)
	families, err := g.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) < 6 {
		t.Errorf("only %d metrics have a series", len(families))
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				if pair.GetValue() == f.sm.Name || pair.GetValue() == f.sm.Spec.Schedule.Name {
					t.Errorf("%s has the label %s=%q", family.GetName(), pair.GetName(), pair.GetValue())
				}
			}
		}
	}
}

// What a machine follows is counted, not what its schedule says; and only where the
// schedule decides.
func TestMetricsOfDecisionsBySchedule(t *testing.T) {
	const name = "fivespot_schedule_evaluations_total"
	held := func(sm *v1beta1.ScheduledMachine) {
		sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: new(true)}
	}
	for title, test := range map[string]struct {
		sm      *v1beta1.ScheduledMachine
		says    contract.State
		unknown bool
		want    map[string]float64
	}{
		"active":                   {sm: rack(), says: contract.Active, want: map[string]float64{"active": 1}},
		"inactive":                 {sm: rack(), says: contract.Inactive, want: map[string]float64{"inactive": 1}},
		"no verdict yet":           {sm: rack(), says: contract.Unresolved, want: map[string]float64{"inactive": 1}},
		"no verdict, one is held":  {sm: rack(held), says: contract.Unresolved, want: map[string]float64{"active": 1}},
		"the schedule is not read": {sm: rack(), unknown: true, want: map[string]float64{}},
		"disabled": {
			sm:   rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(false) }),
			says: contract.Active, want: map[string]float64{},
		},
		"killed": {
			sm:   rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true }),
			says: contract.Active, want: map[string]float64{},
		},
	} {
		t.Run(title, func(t *testing.T) {
			g := newGauged(t)
			seen := nothing()
			seen.reading, seen.readingKnown = reading(test.says), !test.unknown
			f := judge(test.sm, seen, noon, limits{})
			g.judged(&f)
			g.want(name, test.want)
		})
	}
}

// A switch counts once, however often the controller looks while it is on, and
// whatever goes wrong meanwhile.
func TestMetricsOfTheKillSwitchCountItOnce(t *testing.T) {
	const name = "fivespot_kill_switch_activations_total"
	g := newGauged(t)
	sm := rack()
	write := func(failure error) {
		seen := whole(&capi.MachineState{UID: "m"}, noon)
		seen.reading, seen.readingKnown = reading(contract.Active), true
		f := judge(sm, seen, noon, limits{})
		f.failure = failure
		status := describe(f)
		g.wrote(&f, &status)
		sm = sm.DeepCopy()
		sm.Status = status
	}
	turn := func(on bool) {
		sm = sm.DeepCopy()
		sm.Spec.KillSwitch = on
		sm.Generation++
	}
	refused := errors.New("the API server is away")
	for _, step := range []struct {
		title string
		do    func()
		want  float64
	}{
		{"off", func() { write(nil) }, 0},
		{"on", func() { turn(true); write(nil) }, 1},
		{"still on", func() { write(nil) }, 1},
		{"on, and edited", func() { sm.Generation++; write(nil) }, 1},
		{"on, and the Machine cannot be deleted", func() { write(refused) }, 1},
		{"on, and it can", func() { write(nil) }, 1},
		{"off again", func() { turn(false); write(nil) }, 1},
		{"on again, and the Machine cannot be deleted", func() { turn(true); write(refused) }, 2},
		{"on again, and it can", func() { write(nil) }, 2},
	} {
		step.do()
		if got := g.values(name)[""]; got != step.want {
			t.Errorf("%s: %v, want %v", step.title, got, step.want)
		}
	}
}

// busyNode is a client of a workload cluster in which a node runs pods of the given
// names, and answer says what becomes of one that is asked to go.
func busyNode(node *corev1.Node, answer func(pod string) error, pods ...string) *fake.Clientset {
	objects := []runtime.Object{node}
	for _, name := range pods {
		objects = append(objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "desk", Name: name}, Spec: corev1.PodSpec{NodeName: node.Name},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "pods/eviction", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, is := action.(clienttesting.CreateAction)
		if !is {
			return false, nil, nil
		}
		eviction, is := create.GetObject().(*policyv1.Eviction)
		if !is {
			return false, nil, nil
		}
		return true, nil, answer(eviction.Name)
	})
	return client
}

// Every eviction of our own drain counts by what was answered, also those of a step
// that ended with an error.
func TestMetricsOfEvictions(t *testing.T) {
	const name = "fivespot_pod_evictions_total"
	g := newGauged(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", UID: "n"}}
	fails := false
	client := busyNode(node, func(pod string) error {
		switch {
		case pod == "budgeted":
			return apierrors.NewTooManyRequests("the budget says no", 0)
		case pod == "last" && fails:
			return apierrors.NewInternalError(errors.New("it broke"))
		}
		return nil
	}, "batch", "budgeted", "last")
	r := &Reconciler{metrics: g.metrics}
	step := func() {
		t.Helper()
		seen := whole(&capi.MachineState{NodeName: "worker-1", Held: true}, noon)
		seen.view = &workload.View{State: workload.Reachable, NodeState: workload.NodePresent, Node: &workload.Node{Name: node.Name, UID: node.UID}, Client: client}
		if err := r.drainAndLetGo(t.Context(), &facts{sm: rack(), seen: seen, now: noon}); err != nil {
			t.Fatal(err)
		}
	}
	step()
	g.want(name, map[string]float64{"success": 2, "refused": 1})
	fails = true
	step()
	g.want(name, map[string]float64{"success": 3, "refused": 2, "error": 1})
	g.evicted(drain.Evictions{})
	g.want(name, map[string]float64{"success": 3, "refused": 2, "error": 1})
}

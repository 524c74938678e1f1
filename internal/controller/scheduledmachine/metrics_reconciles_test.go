// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// cacheOf returns a reader of the given ScheduledMachines.
func cacheOf(t *testing.T, machines ...*v1beta1.ScheduledMachine) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, sm := range machines {
		builder = builder.WithObjects(sm)
	}
	return builder.Build()
}

// named returns a ScheduledMachine of a name, in a phase.
func named(name string, phase v1beta1.Phase) *v1beta1.ScheduledMachine {
	return rack(func(sm *v1beta1.ScheduledMachine) { sm.Name, sm.Status.Phase = name, phase })
}

func TestMetricsOfReconcilesGoByThePhaseTheyBeginWith(t *testing.T) {
	g := newGauged(t)
	clock := clocktesting.NewFakeClock(noon)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "scheduledmachines"}, "up", errors.New("changed"))
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "trading", Name: name}}
	}
	var fails error
	m := &measured{
		inner: reconcile.Func(func(_ context.Context, asked reconcile.Request) (reconcile.Result, error) {
			clock.Step(time.Second)
			return reconcile.Result{RequeueAfter: time.Duration(len(asked.Name))}, fails
		}),
		reader: cacheOf(t, named("up", v1beta1.PhaseActive), named("new", "")), metrics: g.reconciles, clock: clock,
	}
	for _, pass := range []struct {
		name  string
		fails error
	}{{"up", nil}, {"up", conflict}, {"up", nil}, {"new", nil}, {"gone", nil}, {"gone", conflict}} {
		fails = pass.fails
		result, err := m.Reconcile(t.Context(), request(pass.name))
		if !errors.Is(err, pass.fails) || result.RequeueAfter != time.Duration(len(pass.name)) {
			t.Errorf("%s: %v and %v are not what was returned", pass.name, result, err)
		}
	}
	g.want("fivespot_reconciliations_total", map[string]float64{"Active success": 2, "Active failure": 1, "New success": 1})
	g.want("fivespot_reconciliation_duration_seconds", map[string]float64{"Active": 3, "New": 1})
	g.want("fivespot_errors_total", map[string]float64{"conflict": 2})
}

func TestMetricsTellErrorsApart(t *testing.T) {
	resource := schema.GroupResource{Resource: "machines"}
	broken := errors.New("it broke")
	tests := map[string]error{
		errorTimeout:    fmt.Errorf("reading: %w", context.DeadlineExceeded),
		errorConflict:   fmt.Errorf("writing the status: %w", apierrors.NewConflict(resource, "rack", broken)),
		errorForbidden:  apierrors.NewForbidden(resource, "rack", broken),
		errorNotFound:   apierrors.NewNotFound(resource, "rack"),
		errorValidation: apierrors.NewInvalid(schema.GroupKind{Kind: "Machine"}, "rack", nil),
		errorKubeAPI:    errors.Join(broken, apierrors.NewInternalError(broken)),
		errorCAPI:       fmt.Errorf("creating: %w", &foreignError{"Machine", "trading", "rack"}),
		errorOther:      broken,
	}
	for want, err := range tests {
		if got := errorType(err); got != want {
			t.Errorf("%v counts as %s, want %s", err, got, want)
		}
	}
	for _, kind := range errorTypes {
		if tests[kind] == nil {
			t.Errorf("nothing counts as %s", kind)
		}
	}
	for want, err := range map[string]error{
		errorTimeout: &url.Error{Op: "Get", URL: "https://api", Err: context.DeadlineExceeded},
		errorKubeAPI: &url.Error{Op: "Get", URL: "https://api", Err: broken},
	} {
		if got := errorType(err); got != want || !slices.Contains(errorTypes, got) {
			t.Errorf("%v counts as %s, want %s", err, got, want)
		}
	}
}

// The census is taken from the cache: a controller that has just started knows as
// much as the one before it, and one machine in no phase yet is none that is active.
func TestMetricsCountTheMachinesThatAreActive(t *testing.T) {
	reader := cacheOf(t, named("a", v1beta1.PhaseActive), named("b", v1beta1.PhaseActive), named("c", v1beta1.PhasePending), named("d", ""))
	g := newGauged(t)
	if err := g.registry.Register(newCensus(reader)); err != nil {
		t.Fatal(err)
	}
	g.want("fivespot_machines_active", map[string]float64{"": 2})
	g.want("fivespot_machines_by_phase", map[string]float64{"Active": 2, "Pending": 1})

	writer, is := reader.(client.Client)
	if !is {
		t.Fatal("the cache cannot be changed")
	}
	if err := writer.Delete(t.Context(), named("a", "")); err != nil {
		t.Fatal(err)
	}
	g.want("fivespot_machines_active", map[string]float64{"": 1})
}

// Who may write a status may leave things out that the controller never does.
func TestMetricsStandAStatusThatWasWrittenByHand(t *testing.T) {
	sm := named("a", v1beta1.PhaseActive)
	sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{}
	g := newGauged(t)
	if err := g.registry.Register(newCensus(cacheOf(t, sm))); err != nil {
		t.Fatal(err)
	}
	g.want("fivespot_machines_unresolved", map[string]float64{"ManualSchedule trading ": 1})
}

func TestMetricsAreWellFormed(t *testing.T) {
	g := newGauged(t)
	if err := g.registry.Register(newCensus(cacheOf(t))); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(g.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"fmt"
	"net/http"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// The guide's step 6, from the far end: a reader who begins with the reference
// and then does one thing after the other sees one reason after the other, and
// the machine comes up with the last.
func TestUnresolvedReferenceSaysWhyAndTheMachineStaysDown(t *testing.T) {
	removeKind(t)
	var sm *v1beta1.ScheduledMachine
	for _, step := range []struct {
		do     func()
		reason string
	}{
		{func() { sm = createMachine(t, "never-up") }, contract.ReasonProviderCRDNotInstalled},
		{func() { installKind(t) }, contract.ReasonProviderNotFound},
		{func() { createSchedule(t, sm.Name) }, contract.ReasonStatusActiveMissing},
		{func() {
			publish(t, sm.Name, `{"active":true,"conditions":[{"type":"Ready","status":"False","reason":"Starting","message":"not yet"}]}`)
		}, contract.ReasonProviderNotReady},
	} {
		before := unresolved(t, step.reason)
		step.do()
		awaitResolved(t, sm, metav1.ConditionFalse, step.reason)
		if now := unresolved(t, step.reason); now <= before {
			t.Errorf("fivespot_spot_schedule_resolution_errors_total for %s was %v and is %v", step.reason, before, now)
		}
		expect(t, resolvedReason(t, sm.Name), step.reason)
		if sm.Status.InSchedule {
			t.Errorf("%s: the machine is wanted", step.reason)
		}
		checkNothingIsLeft(t, sm.Name)
	}

	publish(t, sm.Name, `{"active":true,"conditions":[{"type":"Ready","status":"True","reason":"Reconciled","message":"now"}]}`)
	awaitPhase(t, sm, v1beta1.PhaseActive)
	expect(t, resolvedReason(t, sm.Name), contract.ReasonResolved)
}

// Ready semantics, and that last state is held: whatever happens to the schedule
// of a machine that is up, the machine stays, until a verdict counts again.
func TestUnresolvedReferenceSaysWhyAndTheMachineStaysUp(t *testing.T) {
	installKind(t)
	createSchedule(t, "held")
	sm := createMachine(t, "held")
	publish(t, sm.Name, `{"active":true}`) // without Ready, active is authoritative
	awaitPhase(t, sm, v1beta1.PhaseActive)
	machine := capiMachine(t, sm)

	ready := func(status string) string {
		return `{"active":false,"conditions":[{"type":"Ready","status":"` + status + `","reason":"Stale","message":"do not trust it"}]}`
	}
	for _, step := range []struct {
		name   string
		do     func()
		reason string
	}{
		{"Ready is False", func() { publish(t, sm.Name, ready("False")) }, contract.ReasonProviderNotReady},
		{"active is missing", func() { publish(t, sm.Name, "null") }, contract.ReasonStatusActiveMissing},
		{"Ready is Unknown", func() { publish(t, sm.Name, ready("Unknown")) }, contract.ReasonProviderNotReady},
		{"the object is gone", func() { sh(t, "kubectl -n trading delete manualschedule held") }, contract.ReasonProviderNotFound},
		{"the CRD is gone", func() { removeKind(t) }, contract.ReasonProviderCRDNotInstalled},
	} {
		before := unresolved(t, step.reason)
		step.do()
		awaitResolved(t, sm, metav1.ConditionFalse, step.reason)
		if now := unresolved(t, step.reason); now <= before {
			t.Errorf("%s: fivespot_spot_schedule_resolution_errors_total for %s was %v and is %v", step.name, step.reason, before, now)
		}
		if !sm.Status.InSchedule || sm.Status.Phase != v1beta1.PhaseActive {
			t.Errorf("%s: inSchedule is %t, phase %s", step.name, sm.Status.InSchedule, sm.Status.Phase)
		}
		if now := capiMachine(t, sm); now.UID != machine.UID || now.DeletionTimestamp != nil {
			t.Fatalf("%s: the machine is not the same any more, or on its way out", step.name)
		}
	}

	installKind(t)
	createSchedule(t, "held")
	publish(t, sm.Name, `{"active":true}`)
	awaitResolved(t, sm, metav1.ConditionTrue, contract.ReasonResolved)
	if capiMachine(t, sm).UID != machine.UID {
		t.Error("the machine is not the same any more")
	}
	publish(t, sm.Name, `{"active":false}`)
	awaitPhase(t, sm, v1beta1.PhaseInactive)
	checkNothingIsLeft(t, sm.Name)
}

// removeKind deletes the CRD, and with it every ManualSchedule.
func removeKind(t *testing.T) {
	t.Helper()
	sh(t, "kubectl delete --ignore-not-found crd/manualschedules.spotschedules.5spot.finos.org")
}

func resolvedReason(t *testing.T, name string) string {
	t.Helper()
	return sh(t, "kubectl -n trading get scheduledmachine/"+name+
		` -o jsonpath='{.status.conditions[?(@.type=="SpotScheduleResolved")].reason}'`)
}

// unresolved returns fivespot_spot_schedule_resolution_errors_total for a reason,
// as the controller serves it; zero if it is not there.
func unresolved(t *testing.T, reason string) float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(deadline(t), http.MethodGet, localclustertest.Cluster(t).Part(localcluster.PartController).MetricsURL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(map[string]string{"namespace": localcluster.Namespace, "kind": "ManualSchedule", "reason": reason})
	for _, metric := range families["fivespot_spot_schedule_resolution_errors_total"].GetMetric() {
		if fmt.Sprint(labels(metric)) == want {
			return metric.GetCounter().GetValue()
		}
	}
	return 0
}

func labels(metric *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, label := range metric.GetLabel() {
		all[label.GetName()] = label.GetValue()
	}
	return all
}

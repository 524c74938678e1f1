// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWhatAPersonSees holds the whole status against a golden file, situation
// by situation, since it is what the person on call reads.
func TestWhatAPersonSees(t *testing.T) {
	minuteAgo := noon.Add(-time.Minute)
	running := &capi.MachineState{
		UID: "m", Version: "v1beta2", Phase: "Running", BootstrapDataCreated: true, InfrastructureProvisioned: true,
		NodeName: "worker-1", NodeReady: true, ProviderID: "dev:///1",
	}
	copyOf := func(state *capi.MachineState) *capi.MachineState { c := *state; return &c }
	foreign := nothing()
	foreign.machine = present("Machine", false, time.Time{}, nil)
	invalid := nothing()
	invalid.problems = field.ErrorList{field.Invalid(field.NewPath("spec", "infrastructureSpec", "kind"), "DevMachine",
		"no CRD for this kind in group infrastructure.cluster.x-k8s.io is installed")}
	failed := &capi.MachineState{UID: "m", Version: "v1beta2", Phase: "Failed", Failure: "CreateError: no capacity in zone b"}

	var story strings.Builder
	for _, scene := range []struct {
		title   string
		reading contract.Reading
		verdict *bool
		sm      *v1beta1.ScheduledMachine
		seen    *observation
		did     step
		failure error
	}{
		{title: "never resolved", reading: reading(contract.Unresolved), seen: nothing()},
		{title: "inactive", reading: reading(contract.Inactive), seen: nothing()},
		{title: "active, the verdict goes on record", reading: reading(contract.Active), seen: nothing(), did: stepRecord},
		{title: "active, created", reading: reading(contract.Active), verdict: new(true), seen: nothing(), did: stepCreate},
		{
			title: "active, coming up", reading: reading(contract.Active), verdict: new(true),
			seen: whole(&capi.MachineState{UID: "m", Phase: "Provisioning", BootstrapDataCreated: true}, time.Time{}),
		},
		{
			title: "active, node not ready", reading: reading(contract.Active), verdict: new(true),
			seen: whole(&capi.MachineState{UID: "m", Phase: "Running", BootstrapDataCreated: true, InfrastructureProvisioned: true, NodeName: "worker-1"}, time.Time{}),
		},
		{title: "active, running", reading: reading(contract.Active), verdict: new(true), seen: whole(copyOf(running), time.Time{})},
		{title: "running, the schedule cannot be read", reading: reading(contract.Unresolved), verdict: new(true), seen: whole(copyOf(running), time.Time{})},
		{
			title: "running, disabled", reading: reading(contract.Active), verdict: new(true), seen: whole(copyOf(running), time.Time{}), did: stepDelete,
			sm: rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.Enabled = new(false) }),
		},
		{
			title: "inactive, draining", reading: reading(contract.Inactive), verdict: new(false),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", DeletingReason: "DrainingNode", DeletingMessage: "Drain not completed yet: pod desk/quotes, budget quotes"}, minuteAgo),
		},
		{title: "active again while the earlier machine goes", reading: reading(contract.Active), verdict: new(true), seen: whole(copyOf(running), minuteAgo)},
		{
			title: "killed and gone", reading: reading(contract.Active), verdict: new(true), seen: nothing(),
			sm: rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true }),
		},
		{title: "active, a foreign Machine has the name", reading: reading(contract.Active), verdict: new(true), seen: foreign},
		{title: "active, infrastructure kind not installed", reading: reading(contract.Active), verdict: new(true), seen: invalid},
		{title: "active, creation refused", reading: reading(contract.Active), verdict: new(true), seen: nothing(), did: stepCreate, failure: errors.New("creating Machine rack: forbidden")},
		{
			title: "inactive, fields not acted on yet", reading: reading(contract.Inactive), verdict: new(false), seen: nothing(),
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.Spec.NodeTaints = []v1beta1.NodeTaint{{Key: "desk", Effect: "NoSchedule"}}
				sm.Spec.Priority = ptr.To[int32](90)
			}),
		},
		{title: "active, Cluster API gave up", reading: reading(contract.Active), verdict: new(true), seen: whole(failed, time.Time{})},
	} {
		sm := scene.sm
		if sm == nil {
			sm = rack()
		}
		if scene.verdict != nil {
			sm.Status.SpotSchedule = &v1beta1.SpotScheduleStatus{Resolved: true, Active: scene.verdict, Reason: contract.ReasonResolved}
		}
		scene.seen.reading, scene.seen.readingKnown = scene.reading, true
		rec := record(sm.Status.SpotSchedule, scene.reading, noon)
		status := describe(facts{sm: sm, record: rec, wanted: decide(sm, rec), seen: scene.seen, did: scene.did, failure: scene.failure, now: noon})
		text, err := yaml.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		story.WriteString("# " + scene.title + "\n" + string(text) + "---\n")
	}

	const path = "testdata/statuses.yaml"
	if *update {
		if err := os.WriteFile(path, []byte(story.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), story.String()); diff != "" {
		t.Errorf("what a person sees differs (-want +got); if that is meant, run with -update:\n%s", diff)
	}
}

func TestAStatusThatSaysNothingNewIsTheSame(t *testing.T) {
	seen := whole(&capi.MachineState{Phase: "Running", NodeReady: true, NodeName: "n"}, time.Time{})
	seen.reading, seen.readingKnown = reading(contract.Active), true
	at := func(sm *v1beta1.ScheduledMachine, now time.Time) v1beta1.ScheduledMachineStatus {
		rec := record(sm.Status.SpotSchedule, seen.reading, now)
		return describe(facts{sm: sm, record: rec, wanted: decide(sm, rec), seen: seen, now: now})
	}
	sm := rack()
	sm.Status = at(sm, noon)
	if diff := cmp.Diff(sm.Status, at(sm, noon.Add(time.Hour))); diff != "" {
		t.Errorf("an hour later the status differs, though nothing happened:\n%s", diff)
	}
}

func TestConditionsOfOthersStay(t *testing.T) {
	sm := rack()
	other := readyCondition(&facts{sm: sm, wanted: want{}, seen: nothing(), record: &v1beta1.SpotScheduleStatus{}}, &sm.Status)
	other.Type = "example.com/Paid"
	sm.Status.Conditions = append(sm.Status.Conditions, other)
	seen := nothing()
	seen.reading, seen.readingKnown = reading(contract.Inactive), true
	rec := record(nil, seen.reading, noon)
	status := describe(facts{sm: sm, record: rec, wanted: decide(sm, rec), seen: seen, now: noon})
	if len(status.Conditions) != 6 || status.Conditions[0].Type != "example.com/Paid" {
		t.Errorf("got %d conditions, want the foreign one first and our five after it", len(status.Conditions))
	}
}

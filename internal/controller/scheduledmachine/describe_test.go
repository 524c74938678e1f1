// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	held := func(deleted time.Time) *observation {
		seen := whole(&capi.MachineState{
			UID: "m", NodeName: "worker-1", Held: true, DeletingReason: "WaitingForPreTerminateHook",
			DeletingMessage: "Waiting for pre-terminate hooks to succeed (hooks: " + capi.HoldAnnotation + ")",
		}, deleted)
		seen.drainer = drainerUs
		return seen
	}
	draining := func(sm *v1beta1.ScheduledMachine) { sm.Status.DrainStartTime = &metav1.Time{Time: minuteAgo} }
	wasDraining := func(sm *v1beta1.ScheduledMachine) {
		sm.Status.Conditions = []metav1.Condition{{Type: "MachineReady", Status: "False", Reason: "NodeDraining", Message: "pod desk/quotes, budget quotes"}}
	}

	unreadable := nothing()
	unreadable.machine = piece{unreadable: errors.New("listing the objects of kind Machine.cluster.x-k8s.io: forbidden")}
	mayDrainUntil := func(deadline time.Time) *v1beta1.ScheduledMachine {
		return rack(wasDraining, func(sm *v1beta1.ScheduledMachine) { sm.Status.DrainDeadline = &metav1.Time{Time: deadline} })
	}

	var story strings.Builder
	for _, scene := range []struct {
		title   string
		reading contract.Reading
		verdict *bool
		sm      *v1beta1.ScheduledMachine
		seen    *observation
		did     step
		failure error
		drain   *drainProgress
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
		{
			title: "inactive, draining within a time of its own", reading: reading(contract.Inactive), verdict: new(false),
			seen: whole(&capi.MachineState{
				UID: "m", NodeName: "worker-1", DeletingReason: "DrainingNode", DeletingMessage: "Drain not completed yet: pod desk/quotes, budget quotes",
				DrainTimeout: new(2 * time.Minute), DrainStartedAt: minuteAgo,
			}, minuteAgo),
		},
		{title: "inactive, gone before its drain's time was over", reading: reading(contract.Inactive), verdict: new(false), sm: mayDrainUntil(noon.Add(time.Second)), seen: nothing()},
		{title: "inactive, gone after its drain's time was over", reading: reading(contract.Inactive), verdict: new(false), sm: mayDrainUntil(noon), seen: nothing()},
		{
			title: "inactive, long after a drain that was cut short", reading: reading(contract.Inactive), verdict: new(false), seen: nothing(),
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.Status.Conditions = []metav1.Condition{{Type: "MachineReady", Status: "False", Reason: "NoMachine", Message: "There is no Machine. How the last one went: badly"}}
			}),
		},
		{
			title: "inactive, draining, the Machine cannot be read", reading: reading(contract.Inactive), verdict: new(false),
			sm: mayDrainUntil(noon.Add(time.Minute)), seen: unreadable,
		},
		{
			title: "inactive, the drain was cut short", reading: reading(contract.Inactive), verdict: new(false),
			sm:   rack(wasDraining),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", SkipsDrain: true, DeletingReason: "DeletingNode"}, noon.Add(-6*time.Minute)),
		},
		{
			title: "inactive, the drain was cut short and the infrastructure hangs", reading: reading(contract.Inactive), verdict: new(false),
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.Status.Conditions = []metav1.Condition{{Type: "MachineReady", Status: "False", Reason: "NodeDrainFailed", Message: "it was waiting for: pod desk/quotes, budget quotes"}}
			}),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", SkipsDrain: true, DeletingReason: "WaitingForInfrastructureDeletion", DeletingMessage: "Waiting for DevMachine to be deleted: the BMC does not answer"}, noon.Add(-time.Hour)),
		},
		{
			title: "inactive, somebody else's hook takes its time", reading: reading(contract.Inactive), verdict: new(false),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", SkipsDrain: true, DeletingReason: "WaitingForPreDrainHook", DeletingMessage: "Waiting for pre-drain hooks to succeed (hooks: theirs)"}, noon.Add(-6*time.Minute)),
		},
		{
			title: "inactive, the deletion is refused", reading: reading(contract.Inactive), verdict: new(false),
			seen: whole(copyOf(running), time.Time{}), failure: errors.New("deleting Machine rack: forbidden"),
		},
		{
			title: "inactive, the Node is left and the workload cluster being connected to", reading: reading(contract.Inactive), verdict: new(false),
			sm: rack(draining, func(sm *v1beta1.ScheduledMachine) { sm.Status.NodeRef = &v1beta1.NodeReference{Name: "worker-1"} }), seen: nothing(), failure: errConnecting,
		},
		{
			title: "inactive, the Node is left and the workload cluster out of reach", reading: reading(contract.Inactive), verdict: new(false),
			sm: rack(draining, func(sm *v1beta1.ScheduledMachine) { sm.Status.NodeRef = &v1beta1.NodeReference{Name: "worker-1"} }), seen: nothing(), failure: fmt.Errorf("%w to delete Node worker-1: the API server of the workload cluster cannot be reached", errNodeUnseen),
		},
		{title: "inactive, our own drain begins", reading: reading(contract.Inactive), verdict: new(false), seen: held(minuteAgo)},
		{
			title: "inactive, our own drain", reading: reading(contract.Inactive), verdict: new(false), sm: rack(draining),
			seen: held(minuteAgo), drain: &drainProgress{message: "pod desk/quotes, budget quotes"},
		},
		{
			title: "active, somebody else deleted the Machine, our own drain", reading: reading(contract.Active), verdict: new(true), sm: rack(draining),
			seen: held(minuteAgo), drain: &drainProgress{message: "pod desk/quotes, budget quotes"},
		},
		{
			title: "inactive, our own drain is done", reading: reading(contract.Inactive), verdict: new(false), sm: rack(draining),
			seen: held(minuteAgo), drain: &drainProgress{done: true},
		},
		{
			title: "inactive, our own drain was cut short", reading: reading(contract.Inactive), verdict: new(false), sm: rack(draining, wasDraining),
			seen: held(noon.Add(-6 * time.Minute)),
		},
		{
			title: "deleted with its namespace, no drain is possible", reading: reading(contract.Unresolved), verdict: new(true), sm: rack(draining, deleted),
			seen: held(minuteAgo), drain: &drainProgress{message: "the Secret with the kubeconfig of cluster desk, which is gone", hopeless: "its Cluster goes, and cannot be reached any more"},
		},
		{
			title: "killed, where Cluster API would not drain", reading: reading(contract.Active), verdict: new(true),
			sm: rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true }), seen: held(minuteAgo),
		},
		{
			title: "killed, where Cluster API would not drain, and let go", reading: reading(contract.Active), verdict: new(true),
			sm: rack(draining, func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true }), seen: held(minuteAgo),
		},
		{
			title: "inactive, the infrastructure takes its time", reading: reading(contract.Inactive), verdict: new(false),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", DeletingReason: "WaitingForInfrastructureDeletion", DeletingMessage: "DevMachine rack is being deleted"}, minuteAgo),
		},
		{
			title: "inactive, the infrastructure takes longer than the shutdown may", reading: reading(contract.Inactive), verdict: new(false),
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.Status.Conditions = []metav1.Condition{{Type: "MachineReady", Status: "False", Reason: "Deleting", Message: "DevMachine rack is being deleted"}}
			}),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", SkipsDrain: true, DeletingReason: "WaitingForInfrastructureDeletion", DeletingMessage: "DevMachine rack is being deleted"}, noon.Add(-6*time.Minute)),
		},
		{
			title: "inactive, volumes are waited for no longer", reading: reading(contract.Inactive), verdict: new(false),
			sm: rack(func(sm *v1beta1.ScheduledMachine) {
				sm.Status.Conditions = []metav1.Condition{{Type: "MachineReady", Status: "False", Reason: "Deleting", Message: "Waiting for volume quotes"}}
			}),
			seen: whole(&capi.MachineState{UID: "m", NodeName: "worker-1", DeletingReason: "WaitingForVolumeDetach", DeletingMessage: "Waiting for volume quotes"}, noon.Add(-6*time.Minute)),
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
				sm.Spec.KillIfCommands = []string{"stress"}
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
		f := judge(sm, scene.seen, noon, limits{})
		if scene.did != stepNone {
			f.did = scene.did
		}
		f.failure, f.drain = scene.failure, scene.drain
		status := describe(f)
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
	seen.reading.NextTransition = noon.Add(time.Hour) // with a fraction of a second
	at := func(sm *v1beta1.ScheduledMachine, now time.Time) v1beta1.ScheduledMachineStatus {
		return describe(judge(sm, seen, now, limits{}))
	}
	sm := rack()
	stored, err := json.Marshal(at(sm, noon)) // the API server keeps what JSON says
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(stored, &sm.Status); err != nil {
		t.Fatal(err)
	}
	if after := at(sm, noon.Add(time.Hour)); !equality.Semantic.DeepEqual(sm.Status, after) {
		t.Errorf("an hour later the status differs, though nothing happened:\n%s", cmp.Diff(sm.Status, after))
	}
}

func TestANextChangeIsShownUntilItIsAMinuteLate(t *testing.T) {
	due := noon.Truncate(time.Second).Add(time.Hour)
	for name, test := range map[string]struct {
		now            time.Time
		shown, another bool
	}{
		"before":       {now: noon, shown: true, another: true},
		"at that time": {now: due, shown: true, another: true},
		"just not yet": {now: due.Add(time.Minute - 1), shown: true, another: true},
		"a minute on":  {now: due.Add(time.Minute)},
	} {
		for _, state := range []contract.State{contract.Active, contract.Inactive} {
			seen := nothing()
			seen.reading, seen.readingKnown = reading(state), true
			seen.reading.NextTransition = due
			f := judge(rack(func(sm *v1beta1.ScheduledMachine) { sm.Spec.KillSwitch = true }), seen, test.now, limits{})
			status := describe(f)
			if shown := status.NextActivation != nil || status.NextCleanup != nil; shown != test.shown {
				t.Errorf("%s, %v: nextActivation %v, nextCleanup %v", name, state, status.NextActivation, status.NextCleanup)
			}
			if again := f.again.Equal(due.Add(time.Minute)); again != test.another {
				t.Errorf("%s, %v: it is looked at again at %v", name, state, f.again)
			}
		}
	}
}

func TestNoMessageIsLongerThanTheAPIServerTakes(t *testing.T) {
	seen := nothing()
	seen.reading, seen.readingKnown = reading(contract.Active), true
	sm := rack()
	long := errors.New(strings.Repeat("0: spec.files: invalid ü; ", 10_000))
	f := judge(sm, seen, noon, limits{})
	f.did, f.failure = stepCreate, long
	status := describe(f)
	if len(status.Message) > messageLimit || !utf8.ValidString(status.Message) {
		t.Errorf("the message has %d bytes", len(status.Message))
	}
	for _, condition := range status.Conditions {
		if len(condition.Message) > messageLimit {
			t.Errorf("the message of %s has %d bytes", condition.Type, len(condition.Message))
		}
	}
}

func TestWhatHappenedIsToldOnce(t *testing.T) {
	ref := &v1beta1.ObjectReference{Kind: "Machine"}
	ready := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1beta1.ConditionMachineReady, Reason: reason}}
	}
	for name, test := range map[string]struct {
		before, after v1beta1.ScheduledMachineStatus
		did           step
		killed        bool
		want          []string
	}{
		"created":         {after: v1beta1.ScheduledMachineStatus{MachineRef: ref}, did: stepCreate, want: []string{"MachineCreated"}},
		"created, unsaid": {after: v1beta1.ScheduledMachineStatus{MachineRef: ref}, want: []string{"MachineCreated"}},
		"replaced":        {before: v1beta1.ScheduledMachineStatus{MachineRef: ref}, after: v1beta1.ScheduledMachineStatus{MachineRef: ref}, did: stepCreate, want: []string{"MachineDeleted", "MachineCreated"}},
		"gone":            {before: v1beta1.ScheduledMachineStatus{MachineRef: ref}, want: []string{"MachineDeleted"}},
		"draining":        {after: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining")}, want: []string{"NodeDraining"}},
		"drained":         {before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining")}, after: v1beta1.ScheduledMachineStatus{Conditions: ready("Deleting")}, want: []string{"NodeDrained"}},
		"killed while draining": {
			before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining")}, after: v1beta1.ScheduledMachineStatus{Conditions: ready("Deleting")}, killed: true,
		},
		"drain cut short": {before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining")}, after: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDrainFailed")}, want: []string{"NodeDrainFailed"}},
		"gone before the drain's time was over": {
			before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining"), DrainDeadline: &metav1.Time{Time: noon.Add(time.Second)}},
			after:  v1beta1.ScheduledMachineStatus{Conditions: ready("NoMachine")}, want: []string{"NodeDrained"},
		},
		"gone after the drain's time was over": {
			before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining"), DrainDeadline: &metav1.Time{Time: noon}},
			after:  v1beta1.ScheduledMachineStatus{Conditions: ready("NoMachine")}, want: []string{"NodeDrainFailed"},
		},
		"gone after the drain's time was over, another one created": {
			before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining"), DrainDeadline: &metav1.Time{Time: noon}, MachineRef: ref},
			after:  v1beta1.ScheduledMachineStatus{Conditions: ready("Provisioning"), MachineRef: ref}, did: stepCreate,
			want: []string{"MachineDeleted", "MachineCreated", "NodeDrainFailed"},
		},
		"gone after the drain's time was over, killed": {
			before: v1beta1.ScheduledMachineStatus{Conditions: ready("NodeDraining"), DrainDeadline: &metav1.Time{Time: noon}},
			after:  v1beta1.ScheduledMachineStatus{Conditions: ready("NoMachine")}, killed: true,
		},
		"enabled, no machine": {
			before: v1beta1.ScheduledMachineStatus{Phase: "Disabled", LastScheduledTime: new(metav1.Time)},
			after:  v1beta1.ScheduledMachineStatus{Phase: "Inactive", Conditions: []metav1.Condition{{Type: "Ready", Reason: "ScheduleInactive"}}},
			want:   []string{"ScheduleInactive"},
		},
		"nothing": {},
	} {
		sm := rack()
		sm.Status = test.before
		var got []string
		seen := nothing()
		seen.drainer = drainerClusterAPI
		for _, happened := range happenings(&facts{sm: sm, did: test.did, now: noon, seen: seen, wanted: want{skipDrain: test.killed}}, &test.after) {
			got = append(got, happened.reason)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: reasons of events (-want +got):\n%s", name, diff)
		}
	}
}

func TestConditionsOfOthersStay(t *testing.T) {
	sm := rack()
	other := readyCondition(&facts{sm: sm, wanted: want{}, seen: nothing(), record: &outlook{}}, &sm.Status)
	other.Type = "example.com/Paid"
	sm.Status.Conditions = append(sm.Status.Conditions, other)
	seen := nothing()
	seen.reading, seen.readingKnown = reading(contract.Inactive), true
	status := describe(judge(sm, seen, noon, limits{}))
	if len(status.Conditions) != 6 || status.Conditions[0].Type != "example.com/Paid" {
		t.Errorf("got %d conditions, want the foreign one first and our five after it", len(status.Conditions))
	}
}

// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fivespotv1 "github.com/fivespot/fivespot/api/v1beta1"
)

// stage is where a chapter is played: a world and a clock that the test moves.
type stage struct {
	world  *world
	clock  *clocktesting.FakeClock
	out    bytes.Buffer
	teller *teller
}

func newStage() *stage {
	s := &stage{world: &world{changed: func(*state) {}}, clock: clocktesting.NewFakeClock(time.Unix(1_900_000_000, 0))}
	s.teller = &teller{out: &s.out, clock: s.clock, begin: s.clock.Now()}
	return s
}

// after moves the clock and then the world.
func (s *stage) after(d time.Duration, change func(*state)) {
	s.clock.Step(d)
	s.world.update(change)
}

var machineFacts = []fact{
	{line: "the machine appears", holds: func(now *state) bool { return now.machine != nil }},
	{line: "the machine is being deleted", holds: deleting, passing: true},
	{line: "the machine is Active", holds: phase(fivespotv1.PhaseActive)},
}

func TestChapterTellsEachFactWhenItComesTrue(t *testing.T) {
	s := newStage()
	ch := chapter{title: "it begins", facts: machineFacts, do: func(context.Context, client.Client) error {
		s.after(1500*time.Millisecond, func(now *state) { now.scheduled = &fivespotv1.ScheduledMachine{} })
		s.after(time.Second, func(now *state) { now.machine = &clusterv1.Machine{} })
		s.after(time.Second, func(now *state) { now.machine.DeletionTimestamp = &metav1.Time{} })
		s.after(time.Second, func(now *state) { now.scheduled.Status.Phase = fivespotv1.PhaseActive })
		return nil
	}}
	if err := ch.play(t.Context(), nil, s.world, s.teller); err != nil {
		t.Fatal(err)
	}
	want := `   0.0s  it begins
   2.5s    the machine appears
   3.5s    the machine is being deleted
   4.5s    the machine is Active
`
	if diff := cmp.Diff(want, s.out.String()); diff != "" {
		t.Errorf("the story (-want +got):\n%s", diff)
	}
}

func TestChapterDoesNotWaitForWhatIsPassing(t *testing.T) {
	s := newStage()
	ch := chapter{title: "it begins", facts: machineFacts, do: func(context.Context, client.Client) error {
		s.after(time.Second, func(now *state) {
			now.machine = &clusterv1.Machine{}
			now.scheduled = &fivespotv1.ScheduledMachine{Status: fivespotv1.ScheduledMachineStatus{Phase: fivespotv1.PhaseActive}}
		})
		return nil
	}}
	if err := ch.play(t.Context(), nil, s.world, s.teller); err != nil {
		t.Fatal(err)
	}
	// What comes later belongs to the next chapter.
	s.after(time.Second, func(now *state) { now.machine.DeletionTimestamp = &metav1.Time{} })
	want := `   0.0s  it begins
   1.0s    the machine appears
   1.0s    the machine is Active
`
	if diff := cmp.Diff(want, s.out.String()); diff != "" {
		t.Errorf("the story (-want +got):\n%s", diff)
	}
}

func TestChapterThatDoesNotEndSaysWhatItWaitedForAndHowThingsStand(t *testing.T) {
	s := newStage()
	ctx, cancel := context.WithCancelCause(t.Context())
	ch := chapter{title: "it begins", facts: machineFacts, do: func(context.Context, client.Client) error {
		s.after(time.Second, func(now *state) {
			now.machine = &clusterv1.Machine{Status: clusterv1.MachineStatus{
				Phase: "Pending",
				Conditions: []metav1.Condition{{
					Type: clusterv1.MachineReadyCondition, Status: metav1.ConditionFalse,
					Message: "* InfrastructureReady:\n  * no power",
				}},
			}}
			now.scheduled = &fivespotv1.ScheduledMachine{Status: fivespotv1.ScheduledMachineStatus{
				Phase: fivespotv1.PhasePending, Message: "The Machine is coming up",
			}}
		})
		cancel(errors.New("the controller has ended"))
		return nil
	}}
	err := ch.play(ctx, nil, s.world, s.teller)
	want := `waiting for "the machine is Active": the controller has ended; ` +
		`the ScheduledMachine is Pending: The Machine is coming up; the Machine is Pending: * InfrastructureReady: * no power`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWhatToTryNext(t *testing.T) {
	commands := func(kubectl string) string {
		return `
Everything stays up; stop it with Ctrl-C. The kubeconfig is /data/kubeconfig.
Three commands to try next, in another terminal:

  ` + kubectl + ` --kubeconfig=/data/kubeconfig -n trading patch manualschedule desk-override --type=merge -p '{"spec":{"enabled":true}}'
  ` + kubectl + ` --kubeconfig=/data/kubeconfig -n trading get scheduledmachine trading-desk-rack -o jsonpath='{.status.spotSchedule}{"\n"}'
  ` + kubectl + ` --kubeconfig=/data/kubeconfig -n trading get scheduledmachines,machines.cluster.x-k8s.io
`
	}
	for kubectl, want := range map[string]string{
		"kubectl": commands("kubectl"),
		"":        commands("bin/kubectl") + "\nThere is no kubectl here yet: `make bin/kubectl` builds one.\n",
	} {
		var out strings.Builder
		next(&out, "/data/kubeconfig", kubectl)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("with kubectl %q (-want +got):\n%s", kubectl, diff)
		}
	}
}

func TestAPathIsPrintedAsOneTypesIt(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a/kubeconfig":    "/home/a/kubeconfig",
		"/home/a b/kubeconfig":  "'/home/a b/kubeconfig'",
		"/home/a's/kube config": `'/home/a'\''s/kube config'`,
	} {
		if got := quoted(path); got != want {
			t.Errorf("%s is printed as %s, want %s", path, got, want)
		}
	}
}

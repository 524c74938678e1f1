// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

func TestTheVerdictFollowsAnEdit(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	s := create(t, namespace, "desk-override", v1alpha1.ManualScheduleSpec{})
	awaitVerdict(t, s, false)
	first := s.Status.DeepCopy()

	clock.Step(time.Minute)
	patch(t, s, `{"spec":{"enabled":true}}`)
	awaitVerdict(t, s, true)
	if want := workday.Add(time.Minute); !s.Status.LastTransitionTime.Time.Equal(want) {
		t.Errorf("lastTransitionTime %v, want %v", s.Status.LastTransitionTime, want)
	}
	ready := meta.FindStatusCondition(s.Status.Conditions, contract.ConditionReady)
	if before := meta.FindStatusCondition(first.Conditions, contract.ConditionReady); !ready.LastTransitionTime.Equal(&before.LastTransitionTime) {
		t.Errorf("Ready's lastTransitionTime moved from %v to %v without a change of its status", before.LastTransitionTime, ready.LastTransitionTime)
	}

	clock.Step(time.Minute)
	patch(t, s, `{"spec":{"reason":"release night"}}`)
	awaitVerdict(t, s, true)
	if want := workday.Add(time.Minute); !s.Status.LastTransitionTime.Time.Equal(want) {
		t.Errorf("lastTransitionTime moved to %v without a flip", s.Status.LastTransitionTime)
	}
}

// scripted is a provider of ManualSchedule that does what spec.reason says.
func scripted(options ...sdk.Option) *sdk.Provider {
	return sdk.New(manualKind, func(_ context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		switch s.Spec.Reason {
		case "invalid":
			return sdk.Decision{}, sdk.InvalidSpec(errors.New("spec.reason: invalid"))
		case "not ready":
			return sdk.Decision{}, sdk.NotReady("FeedUnreachable", errors.New("the feed does not answer"))
		case "error":
			return sdk.Decision{}, errors.New("it broke")
		case "panic":
			panic("secret")
		}
		return sdk.Decision{Active: s.Spec.Enabled}, nil
	}, options...)
}

func TestWithoutADecisionTheVerdictStands(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	program := start(t, sdk.Settings{}, scripted())
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	since := s.Status.LastTransitionTime.DeepCopy()

	for reason, want := range map[string]string{
		"invalid":   sdk.ReasonInvalidSpec,
		"not ready": "FeedUnreachable",
		"error":     sdk.ReasonEvaluationFailed,
		"panic":     sdk.ReasonEvaluationPanicked,
	} {
		patch(t, s, fmt.Sprintf(`{"spec":{"enabled":false,"reason":%q}}`, reason))
		awaitNotReady(t, s, want)
		if s.Status.Active == nil || !*s.Status.Active || !s.Status.LastTransitionTime.Equal(since) {
			t.Errorf("%s: the verdict moved: %+v", reason, s.Status)
		}
		if message := fmt.Sprint(s.Status); strings.Contains(message, "secret") {
			t.Errorf("%s: the status tells what Evaluate panicked with: %s", reason, message)
		}
	}
	patch(t, s, `{"spec":{"enabled":false,"reason":null}}`)
	awaitVerdict(t, s, false)
	if program.log.count("stack") == 0 {
		t.Error("the log does not show where Evaluate panicked")
	}
}

func TestAFailureThatPassesIsRecoveredFromWithoutAnEdit(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	calls := make(chan int, 100)
	n := 0
	provider := sdk.New(manualKind, func(_ context.Context, s *v1alpha1.ManualSchedule, _ time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace {
			return sdk.Decision{}, nil
		}
		n++
		calls <- n
		if n < 4 {
			return sdk.Decision{}, sdk.NotReady("FeedUnreachable", errors.New("the feed does not answer"))
		}
		return sdk.Decision{Active: true}, nil
	}, sdk.WithBackoff(time.Millisecond, 2*time.Millisecond), sdk.WithConcurrency(1))
	start(t, sdk.Settings{}, provider)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{})
	awaitVerdict(t, s, true)
	if len(calls) != 4 {
		t.Errorf("Evaluate was called %d times, want 4", len(calls))
	}
}

func TestAnObjectThatIsMadeAnewStartsAnew(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	start(t, sdk.Settings{}, manual.Provider(sdk.WithClock(clock)))
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true, Until: at(workday.Add(time.Hour))})
	awaitVerdict(t, s, true)
	if err := devplanetest.Client(t).Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	clock.Step(time.Minute)
	s = create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	if want := workday.Add(time.Minute); !s.Status.LastTransitionTime.Time.Equal(want) {
		t.Errorf("lastTransitionTime %v, want that of the new object, %v", s.Status.LastTransitionTime, want)
	}
	if s.Status.NextTransitionTime != nil {
		t.Errorf("the new object has the old one's next change: %v", s.Status.NextTransitionTime)
	}
}

func TestTheGuidesRightsAreEnoughAndAreAllThereIs(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	seen := watchRequests(t, t.Name())
	program := start(t, sdk.Settings{}, manual.Provider())
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	program.stop()
	for _, line := range seen.untilNow() {
		if strings.HasSuffix(line, " 403") || strings.HasSuffix(line, " 401") {
			t.Errorf("the provider asked for what it may not do: %s", line)
		}
	}

	c := devplanetest.ClientFor(t, account(t))
	machine := &v1beta1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rack"}}
	other := &v1alpha1.TimeBasedSpotSchedule{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hours"}}
	body := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
	tests := map[string]error{
		"read a machine":                   c.Get(t.Context(), client.ObjectKeyFromObject(machine), machine),
		"list machines":                    c.List(t.Context(), &v1beta1.ScheduledMachineList{}),
		"create a machine":                 c.Create(t.Context(), machine.DeepCopy()),
		"patch a machine":                  c.Patch(t.Context(), machine.DeepCopy(), body),
		"patch a machine's status":         c.Status().Patch(t.Context(), machine.DeepCopy(), body),
		"delete a machine":                 c.Delete(t.Context(), machine),
		"edit its own kind":                c.Patch(t.Context(), s.DeepCopy(), body),
		"delete its own kind":              c.Delete(t.Context(), s),
		"read another kind":                c.Get(t.Context(), client.ObjectKeyFromObject(other), other),
		"patch the status of another kind": c.Status().Patch(t.Context(), other, body),
		"read a Secret":                    c.List(t.Context(), &corev1.SecretList{}),
		"record an event":                  c.Create(t.Context(), &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "e"}}),
	}
	for what, err := range tests {
		if !apierrors.IsForbidden(err) {
			t.Errorf("to %s is not forbidden: %v", what, err)
		}
	}
}

func TestWhatAProviderAsksOfTheAPIServer(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	seen := watchRequests(t, t.Name())
	program := start(t, sdk.Settings{}, manual.Provider())
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Enabled: true})
	awaitVerdict(t, s, true)
	program.stop()
	got := map[string]bool{}
	for _, line := range seen.untilNow() {
		fields := strings.Fields(line)
		got[fields[0]+" "+strings.Split(fields[1], "?")[0]] = true
	}
	want := map[string]bool{
		"get /api":                     true, // discovery
		"get /apis":                    true,
		"watch manualschedules":        true, // it begins with the list
		"patch manualschedules/status": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

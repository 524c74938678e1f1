// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fivespot/fivespot/api/contract"
)

// tide is a schedule kind with a status of its own beside the contract's.
type tide struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   tideSpec   `json:"spec"`
	Status tideStatus `json:"status,omitempty"`
}

type tideSpec struct {
	High bool `json:"high"`
}

type tideStatus struct {
	contract.Status `json:",inline"`

	Metres  int    `json:"metres,omitempty"`
	Harbour string `json:"harbour,omitempty"`
}

func (t *tide) ScheduleStatus() *contract.Status { return &t.Status.Status }

var tideKind = schema.GroupVersionKind{Group: contract.Group, Version: "v1", Kind: "Tide"}

func evaluateTide(t *testing.T, object string, evaluate func(*tide) (Decision, error)) outcome {
	t.Helper()
	return newEvaluator(func(_ context.Context, s *tide, _ time.Time) (Decision, error) {
		return evaluate(s)
	})(t.Context(), &unstructured.Unstructured{Object: parse(t, object)}, noon)
}

func TestWhatEvaluateReturnsPicksTheOutcome(t *testing.T) {
	broken := errors.New("no answer")
	tests := []struct {
		name     string
		decision Decision
		err      error
		want     outcome
	}{
		{
			name:     "a decision",
			decision: Decision{Active: true, Until: fivePM, Reason: "HighTide", Message: "three metres"},
			want:     outcome{decided: true, active: true, until: fivePM, reason: "HighTide", message: "three metres"},
		},
		{name: "the zero decision is inactive", want: outcome{decided: true}},
		{
			name: "an invalid spec waits for an edit", decision: Decision{Active: true},
			err: InvalidSpec(field.Required(field.NewPath("spec", "harbour"), "name one")),
			want: outcome{
				reason:  "InvalidSpec",
				message: "spec.harbour: Required value: name one",
			},
		},
		{
			name: "an invalid spec wrapped", err: fmt.Errorf("reading the spec: %w", InvalidSpec(broken)),
			want: outcome{reason: "InvalidSpec", message: "reading the spec: no answer"},
		},
		{
			name: "not ready is tried again", err: fmt.Errorf("asking: %w", NotReady("GaugeUnreachable", broken)),
			want: outcome{reason: "GaugeUnreachable", message: "asking: no answer", retry: true},
		},
		{
			name: "any other error is tried again", err: broken,
			want: outcome{reason: "EvaluationFailed", message: "no answer", retry: true},
		},
		{
			name: "an end that is not in the future is a mistake", decision: Decision{Active: true, Until: noon},
			want: outcome{
				reason: "InvalidDecision", retry: true,
				message: "the provider decided at 2026-06-15T12:00:00.7Z until 2026-06-15T12:00:00.7Z, " +
					"which is not later; this is a mistake in the provider",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := evaluateTide(t, `{spec: {high: true}}`, func(*tide) (Decision, error) { return test.decision, test.err })
			compare := cmp.Options{
				cmp.AllowUnexported(outcome{}, ownStatus{}),
				cmpopts.IgnoreFields(outcome{}, "cause"),
				cmpopts.EquateEmpty(),
			}
			if diff := cmp.Diff(test.want, got, compare); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if test.err != nil && !errors.Is(got.cause, test.err) {
				t.Errorf("the cause for the log is %v, want %v", got.cause, test.err)
			}
		})
	}
}

func TestAnErrorOfNothingIsNoError(t *testing.T) {
	if err := InvalidSpec(nil); err != nil {
		t.Errorf("InvalidSpec(nil) = %v", err)
	}
	if err := NotReady("X", nil); err != nil {
		t.Errorf("NotReady(nil) = %v", err)
	}
	if err := InvalidSpec(field.ErrorList{}.ToAggregate()); err != nil {
		t.Errorf("InvalidSpec of no field errors = %v", err)
	}
}

func TestAPanicReadsAsNotReadyAndKeepsItsValueOutOfTheStatus(t *testing.T) {
	got := evaluateTide(t, `{spec: {high: true}}`, func(s *tide) (Decision, error) {
		s.Status.Metres = 3
		panic("token abc123")
	})
	if got.decided || !got.retry || got.reason != ReasonEvaluationPanicked {
		t.Errorf("outcome %+v", got)
	}
	if strings.Contains(got.message, "abc123") {
		t.Errorf("the message tells the panic's value: %s", got.message)
	}
	if len(got.own.fields) > 0 {
		t.Errorf("a half-made status is published: %v", got.own)
	}
	panicked := (*panicError)(nil)
	if !errors.As(got.cause, &panicked) || !strings.Contains(string(panicked.stack), "evaluate_test.go") {
		t.Errorf("the cause does not say where: %v", got.cause)
	}
}

func TestASpecThatDoesNotFitTheTypeIsInvalid(t *testing.T) {
	got := evaluateTide(t, `{spec: {high: "very"}}`, func(*tide) (Decision, error) {
		t.Error("Evaluate was called")
		return Decision{}, nil
	})
	if got.decided || got.retry || got.reason != ReasonInvalidSpec {
		t.Errorf("outcome %+v", got)
	}
	if !strings.Contains(got.message, "spec.high") {
		t.Errorf("the message does not name the field: %s", got.message)
	}
}

func TestAStatusThatSomebodyGarbledDoesNotKeepTheSpecFromBeingRead(t *testing.T) {
	got := evaluateTide(t, `{spec: {high: true}, status: {lastTransitionTime: soon, active: 7, conditions: yes}}`,
		func(s *tide) (Decision, error) { return Decision{Active: s.Spec.High}, nil })
	if !got.decided || !got.active {
		t.Errorf("outcome %+v", got)
	}
}

func TestChangesOfTheAuthorsStatusAreFound(t *testing.T) {
	got := evaluateTide(t, `
spec: {high: true}
status:
  active: true
  metres: 2
  harbour: Brest
  foreign: 1
  conditions: [{type: Gauge, status: "True"}, {type: Wind, status: "True"}, {type: Ready, status: "True"}]`,
		func(s *tide) (Decision, error) {
			s.Status.Metres, s.Status.Harbour = 3, ""
			no := false
			s.Status.Active = &no
			s.Status.ObservedGeneration = 99
			s.Status.Conditions = []metav1.Condition{
				{Type: "Wind", Status: "True"},
				{Type: "Moon", Status: "False", Reason: "New"},
				{Type: "Ready", Status: "Unknown"},
			}
			return Decision{Active: true}, nil
		})
	want := ownStatus{
		fields: map[string]any{"metres": int64(3), "harbour": nil},
		conditions: map[string]map[string]any{
			"Gauge": nil,
			"Moon": {
				"type": "Moon", "status": "False", "reason": "New", "message": "", "lastTransitionTime": nil,
			},
		},
	}
	if diff := cmp.Diff(want, got.own, cmp.AllowUnexported(ownStatus{})); diff != "" {
		t.Errorf("the author's changes (-want +got):\n%s", diff)
	}
}

type outsideStatus struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Elsewhere contract.Status `json:"elsewhere,omitempty"`
}

func (o *outsideStatus) ScheduleStatus() *contract.Status { return &o.Elsewhere }

type nestedStatus struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status struct {
		Schedule contract.Status `json:"schedule,omitempty"`
	} `json:"status,omitempty"`
}

func (n *nestedStatus) ScheduleStatus() *contract.Status { return &n.Status.Schedule }

type pointerStatus struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status *contract.Status `json:"status,omitempty"`
}

func (p *pointerStatus) ScheduleStatus() *contract.Status { return p.Status }

func TestAMistakeInTheArgumentsOfNewIsReported(t *testing.T) {
	tests := []struct {
		name     string
		provider *Provider
		want     string
	}{
		{"fine", New(tideKind, func(context.Context, *tide, time.Time) (Decision, error) { return Decision{}, nil }), ""},
		{"no function", New[tide](tideKind, nil), "is nil"},
		{
			"another group", New(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Tide"},
				func(context.Context, *tide, time.Time) (Decision, error) { return Decision{}, nil }),
			`the kind is of the API group "apps"`,
		},
		{
			"no version", New(schema.GroupVersionKind{Group: contract.Group, Kind: "Tide"},
				func(context.Context, *tide, time.Time) (Decision, error) { return Decision{}, nil }),
			"needs a name and a version",
		},
		{
			"the status is elsewhere",
			New(tideKind, func(context.Context, *outsideStatus, time.Time) (Decision, error) { return Decision{}, nil }),
			"stored at .status",
		},
		{
			"the block is deeper in the status",
			New(tideKind, func(context.Context, *nestedStatus, time.Time) (Decision, error) { return Decision{}, nil }),
			"stored at .status",
		},
		{
			"the status is a pointer",
			New(tideKind, func(context.Context, *pointerStatus, time.Time) (Decision, error) { return Decision{}, nil }),
			"returns nil",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := checkProviders([]*Provider{test.provider})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "Tide") {
				t.Errorf("error %v, want one about Tide with %q", err, test.want)
			}
		})
	}
}

func TestTwoProvidersOfOneKindAreRefused(t *testing.T) {
	provider := New(tideKind, func(context.Context, *tide, time.Time) (Decision, error) { return Decision{}, nil })
	if err := checkProviders([]*Provider{provider, provider}); err == nil {
		t.Error("two providers of one kind were accepted")
	}
	if err := checkProviders(nil); err == nil {
		t.Error("no provider at all was accepted")
	}
}

func TestProgramsOfDifferentKindsTakeDifferentLeases(t *testing.T) {
	kinds := func(names ...string) []*Provider {
		var list []*Provider
		for _, name := range names {
			list = append(list, &Provider{kind: schema.GroupVersionKind{Kind: name}})
		}
		return list
	}
	if got, want := leaseName(kinds("TideB", "TideA")), "tidea.tideb.spotschedules.5spot.finos.org"; got != want {
		t.Errorf("lease %q, want %q", got, want)
	}
	long := leaseName(kinds(strings.Repeat("A", 63), strings.Repeat("B", 63), strings.Repeat("C", 63), strings.Repeat("D", 63)))
	if len(long) > 253 || !strings.HasSuffix(long, "."+contract.Group) {
		t.Errorf("lease %q of many kinds", long)
	}
}

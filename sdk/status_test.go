// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
)

var (
	// noon has a fraction of a second, which no status shows.
	noon      = time.Date(2026, time.June, 15, 12, 0, 0, 700_000_000, time.UTC)
	fivePM    = time.Date(2026, time.June, 15, 17, 0, 0, 0, time.UTC)
	active    = outcome{decided: true, active: true, reason: "Reconciled", message: "toggle is on"}
	inactive  = outcome{decided: true, reason: "Reconciled", message: "toggle is off"}
	untilFive = outcome{decided: true, active: true, until: fivePM, reason: "Open", message: "open until 17:00"}
	invalid   = failure(InvalidSpec(errors.New("spec.days: Friyay is no day")))
	notReady  = failure(NotReady("FeedUnreachable", errors.New("the feed does not answer")))
)

func TestTheStatusThatAnEvaluationLeavesBehind(t *testing.T) {
	tests := []struct {
		name       string
		before     string
		generation int64
		outcome    outcome
		want       string
	}{
		{
			name: "first verdict", generation: 1, outcome: active,
			want: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "a flip moves lastTransitionTime and not Ready's", generation: 2, outcome: inactive,
			before: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
			want: `
active: false
observedGeneration: 2
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is off, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
		},
		{
			name: "an edit that flips nothing moves observedGeneration alone", generation: 9, outcome: active,
			before: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
			want: `
active: true
observedGeneration: 9
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
		},
		{
			name: "a known next change is shown", generation: 1, outcome: untilFive,
			before: `{nextTransitionTime: "2026-06-15T09:00:00Z", active: true, lastTransitionTime: "2026-06-15T08:00:00Z"}`,
			want: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-15T08:00:00Z"
nextTransitionTime: "2026-06-15T17:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Open, message: "open until 17:00", lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "a next change that nobody knows any more goes", generation: 1, outcome: active,
			before: `{active: true, nextTransitionTime: "2026-06-15T09:00:00Z", lastTransitionTime: "2026-06-15T08:00:00Z"}`,
			want: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-15T08:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "an invalid spec keeps the verdict and says so", generation: 3, outcome: invalid,
			before: `
active: true
observedGeneration: 2
lastTransitionTime: "2026-06-01T08:00:00Z"
nextTransitionTime: "2026-06-15T17:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
			want: `
active: true
observedGeneration: 3
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "False", reason: InvalidSpec, message: "spec.days: Friyay is no day", lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "a failure before any verdict publishes none", generation: 1, outcome: notReady,
			want: `
observedGeneration: 1
conditions:
- {type: Ready, status: "False", reason: FeedUnreachable, message: the feed does not answer, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "another reason for not being ready keeps the time since when", generation: 1, outcome: notReady,
			before: `
active: false
observedGeneration: 1
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "False", reason: EvaluationFailed, message: no, lastTransitionTime: "2026-06-15T08:00:00Z"}`,
			want: `
active: false
observedGeneration: 1
lastTransitionTime: "2026-06-01T08:00:00Z"
conditions:
- {type: Ready, status: "False", reason: FeedUnreachable, message: the feed does not answer, lastTransitionTime: "2026-06-15T08:00:00Z"}`,
		},
		{
			name: "what others wrote stays, in its place", generation: 1, outcome: active,
			before: `
audit: {by: somebody}
conditions:
- {type: Reviewed, status: "True", severity: 9007199254740993, reviewer: {name: ann}}
- {type: Ready, status: "False", reason: Old, message: old, lastTransitionTime: "2026-06-01T08:00:00Z"}
- {type: Billed, status: Unknown}`,
			want: `
active: true
audit: {by: somebody}
observedGeneration: 1
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Reviewed, status: "True", severity: 9007199254740993, reviewer: {name: ann}}
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-15T12:00:00Z"}
- {type: Billed, status: Unknown}`,
		},
		{
			name: "what no reader can make sense of is put right", generation: 1, outcome: active,
			before: `
active: "true"
observedGeneration: one
conditions:
- 3
- {type: Ready, status: "True"}
- {type: Ready, status: "False"}`,
			want: `
active: true
observedGeneration: 1
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "conditions that are no list are put right", generation: 1, outcome: inactive,
			before: `{conditions: {Ready: "True"}}`,
			want: `
active: false
observedGeneration: 1
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Ready, status: "True", reason: Reconciled, message: toggle is off, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
		{
			name: "the author's own fields and conditions are published", generation: 1,
			outcome: outcome{
				decided: true, active: true, reason: "Reconciled", message: "toggle is on",
				own: ownStatus{
					fields: map[string]any{"feed": map[string]any{"entries": int64(7)}, "dropped": nil},
					conditions: map[string]map[string]any{
						"Old":       nil,
						"FeedFresh": {"type": "FeedFresh", "status": "True"},
						"Changed":   {"type": "Changed", "status": "False"},
						"Reworded":  {"type": "Reworded", "status": "True", "message": "new", "lastTransitionTime": nil},
						"Dated":     {"type": "Dated", "status": "True", "lastTransitionTime": "2026-06-10T08:00:00Z"},
					},
				},
			},
			before: `
dropped: 1
conditions:
- {type: Old, status: "True"}
- {type: Changed, status: "True", lastTransitionTime: "2026-06-01T08:00:00Z"}
- {type: Reworded, status: "True", message: old, lastTransitionTime: "2026-06-01T08:00:00Z"}`,
			want: `
active: true
feed: {entries: 7}
observedGeneration: 1
lastTransitionTime: "2026-06-15T12:00:00Z"
conditions:
- {type: Changed, status: "False", lastTransitionTime: "2026-06-15T12:00:00Z"}
- {type: Reworded, status: "True", message: new, lastTransitionTime: "2026-06-01T08:00:00Z"}
- {type: Dated, status: "True", lastTransitionTime: "2026-06-10T08:00:00Z"}
- {type: FeedFresh, status: "True", lastTransitionTime: "2026-06-15T12:00:00Z"}
- {type: Ready, status: "True", reason: Reconciled, message: toggle is on, lastTransitionTime: "2026-06-15T12:00:00Z"}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := parse(t, test.before)
			got := nextStatus(before, test.generation, test.outcome, noon)
			if diff := cmp.Diff(parse(t, test.want), got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(parse(t, test.before), before); diff != "" {
				t.Errorf("the status of before was changed:\n%s", diff)
			}
			again := nextStatus(got, test.generation, test.outcome, noon.Add(time.Hour))
			if test.outcome.own.fields == nil && !cmp.Equal(got, again) {
				t.Errorf("the same outcome an hour later changes the status:\n%s", cmp.Diff(got, again))
			}
			if verdict := contract.Read(got); verdict.Resolved() != test.outcome.decided {
				t.Errorf("readers take it for %v: %s", verdict.State, verdict.Message)
			}
		})
	}
}

func TestAReasonThatKubernetesRefusesMovesIntoTheMessage(t *testing.T) {
	tests := []struct{ reason, message, wantReason, wantMessage string }{
		{"Holiday", "closed", "Holiday", "closed"},
		{"", "closed", "Reconciled", "closed"},
		{"bank holiday", "closed", "Reconciled", "bank holiday: closed"},
		{"bank holiday", "", "Reconciled", "bank holiday"},
		{strings.Repeat("A", 1025), "x", "Reconciled", strings.Repeat("A", 1025) + ": x"},
		{"Bad", "not \xff UTF-8", "Bad", "not \uFFFD UTF-8"},
		{"Long", strings.Repeat("é", 20000), "Long", strings.Repeat("é", (32768-3)/2) + "…"},
	}
	for _, test := range tests {
		reason, message := presentable(test.reason, test.message, true)
		if reason != test.wantReason || message != test.wantMessage {
			t.Errorf("presentable(%.40q, %.40q) = %.40q, %.40q", test.reason, test.message, reason, message)
		}
	}
	if reason, _ := presentable("no word", "", false); reason != ReasonEvaluationFailed {
		t.Errorf("a bad reason of a failure reads as %q", reason)
	}
}

// parse reads YAML as the API machinery does: whole numbers are int64.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	inJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("the test's YAML: %v", err)
	}
	var value map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(inJSON, &value); err != nil {
		t.Fatalf("the test's YAML: %v", err)
	}
	return value
}

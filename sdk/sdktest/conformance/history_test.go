// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// historyOf makes the states of one object from its statuses.
func historyOf(t *testing.T, statuses ...string) []state {
	t.Helper()
	var states []state
	for _, status := range statuses {
		states = append(states, state{Unstructured: objectWith(t, status)})
	}
	return states
}

func TestTimesOfFlips(t *testing.T) {
	const (
		none   = `{}`
		on1    = `{active: true, lastTransitionTime: "2026-01-02T03:04:01Z"}`
		on2    = `{active: true, lastTransitionTime: "2026-01-02T03:04:02Z"}`
		on3    = `{active: true, lastTransitionTime: "2026-01-02T03:04:03Z"}`
		off1   = `{active: false, lastTransitionTime: "2026-01-02T03:04:01Z"}`
		off2   = `{active: false, lastTransitionTime: "2026-01-02T03:04:02Z"}`
		bare   = `{active: true}`
		broken = `{active: false, lastTransitionTime: "noon"}`
	)
	tests := map[string]struct {
		states         []string
		unmoved, moved string
	}{
		"moves with each flip":         {states: []string{none, on1, on1, off2, on3}},
		"does not move":                {states: []string{on1, off1}, unmoved: "status.active became false and the time did not move forward: it was 2026-01-02T03:04:01Z and is 2026-01-02T03:04:01Z"},
		"moves back":                   {states: []string{on3, off2}, unmoved: "status.active became false and the time did not move forward: it was 2026-01-02T03:04:03Z and is 2026-01-02T03:04:02Z"},
		"moves without a flip":         {states: []string{on1, on2, off2}, moved: "status.active stayed true and the time went from 2026-01-02T03:04:01Z to 2026-01-02T03:04:02Z", unmoved: "status.active became false and the time did not move forward: it was 2026-01-02T03:04:02Z and is 2026-01-02T03:04:02Z"},
		"comes after the verdict":      {states: []string{bare, on1, off2}},
		"goes while the verdict stays": {states: []string{on1, bare, off2}, moved: "status.active stayed true and the time went from 2026-01-02T03:04:01Z to <nil>", unmoved: "it is absent"},
		"is never there":               {states: []string{bare, `{active: false}`}, unmoved: "it is absent"},
		"is no time":                   {states: []string{on1, broken}, unmoved: `it is "noon", not an RFC 3339 time`},
		"without a flip":               {states: []string{on1, on1}, unmoved: "no flip was seen"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			states := historyOf(t, test.states...)
			if got := unmoved(states); got != test.unmoved {
				t.Errorf("unmoved: got %q, want %q", got, test.unmoved)
			}
			if got := moved(states); got != test.moved {
				t.Errorf("moved: got %q, want %q", got, test.moved)
			}
		})
	}
}

func TestLosingTheVerdict(t *testing.T) {
	tests := map[string]struct {
		states  []string
		verdict bool
		want    string
	}{
		"kept":          {[]string{`{}`, `{active: true}`, `{active: true}`}, true, ""},
		"kept inactive": {[]string{`{}`, `{active: false}`, `{active: false}`}, false, ""},
		"turned off":    {[]string{`{active: true}`, `{active: false}`}, true, "status.active was true, and then the spec could not be decided about: status.active is false"},
		"turned on":     {[]string{`{active: false}`, `{active: true}`}, false, "status.active was false, and then the spec could not be decided about: status.active is true"},
		"taken away":    {[]string{`{active: true}`, `{}`}, true, "status.active was true, and then the spec could not be decided about: status.active is absent"},
		"for once":      {[]string{`{active: true}`, `{active: false}`, `{active: true}`}, true, "status.active was true, and then the spec could not be decided about: status.active is false"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lostVerdict(historyOf(t, test.states...), test.verdict); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReactionsAreJudgedByTheSlowest(t *testing.T) {
	for slowest, want := range map[time.Duration]Outcome{
		2 * time.Second:                   Passed,
		2*time.Second + 1*time.Nanosecond: Failed,
		100 * time.Millisecond:            Passed,
		time.Minute + 30*time.Millisecond: Failed,
	} {
		if got, _ := inTime(slowest, 2*time.Second); got.outcome != want {
			t.Errorf("%s: got %s, want %s", slowest, got.outcome, want)
		}
	}
}

func TestChangesAreNamedByField(t *testing.T) {
	before := map[string]any{
		"metadata": map[string]any{"resourceVersion": "1", "managedFields": []any{}, "labels": map[string]any{"a": "b"}},
		"status":   map[string]any{"active": true, "beat": int64(1), "conditions": []any{map[string]any{"type": "Ready"}}},
	}
	after := map[string]any{
		"metadata": map[string]any{"resourceVersion": "2", "labels": map[string]any{"a": "b", "c": "d"}, "finalizers": []any{"x"}},
		"status":   map[string]any{"active": true, "beat": int64(2), "conditions": []any{}},
	}
	want := []string{"metadata.finalizers", "metadata.labels.c", "status.beat", "status.conditions"}
	if diff := cmp.Diff(want, changes("", before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := changes("", before, before); len(got) > 0 {
		t.Errorf("an object differs from itself in %v", got)
	}
}

func TestWhichWritesAreExcused(t *testing.T) {
	states := historyOf(t, `{active: true}`, `{active: true, beat: 1}`, `{active: false, beat: 2}`)
	if excused(states[0], states[1]) {
		t.Error("a beat is excused")
	}
	if !excused(states[1], states[2]) {
		t.Error("a flip is not excused")
	}
	gone := states[1]
	gone.gone = true
	if !excused(states[0], gone) {
		t.Error("a deletion is not excused")
	}
	other := historyOf(t, `{active: true, beat: 1}`)[0]
	other.SetUID(types.UID("another"))
	if !excused(states[0], other) {
		t.Error("another object of the name is not excused")
	}
}

func TestATimeThatStaysTakesAWriteToBeSeen(t *testing.T) {
	const (
		on1    = `{active: true, lastTransitionTime: "2026-01-02T03:04:01Z"}`
		ready1 = `{active: true, lastTransitionTime: "2026-01-02T03:04:01Z", observedGeneration: 2}`
		on2    = `{active: true, lastTransitionTime: "2026-01-02T03:04:02Z"}`
		off3   = `{active: false, lastTransitionTime: "2026-01-02T03:04:03Z"}`
	)
	tests := map[string]struct {
		states  []string
		settled int
		own     string // the state that the kit wrote
		want    Outcome
	}{
		"a write while it stays":       {[]string{on1, ready1, off3}, 1, "", Passed},
		"nothing but a flip":           {[]string{on1, off3}, 1, "", Skipped},
		"no change of the status":      {[]string{on1, on1, off3}, 1, "", Skipped},
		"a write before it could tell": {[]string{on1, ready1, off3}, 2, "", Skipped},
		"a write of the kit":           {[]string{on1, ready1, off3}, 1, "1", Skipped},
		"a write that moves it":        {[]string{on1, on2, off3}, 1, "", Failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			states := historyOf(t, test.states...)
			for i := range states {
				states[i].SetResourceVersion(strconv.Itoa(i))
			}
			found, err := stayed(states, test.settled, map[string]bool{test.own: true})
			if err != nil || found.outcome != test.want {
				t.Errorf("got %v and %v, want %s", found, err, test.want)
			}
		})
	}
}

func TestATimeThatNoStatusHasIsNotJudged(t *testing.T) {
	tests := map[string]struct {
		states []string
		want   Outcome
	}{
		"none":      {[]string{`{active: true}`, `{active: false}`}, Skipped},
		"one":       {[]string{`{active: true}`, `{active: false, nextTransitionTime: "2026-01-02T03:04:01Z"}`}, Passed},
		"no time":   {[]string{`{active: true, nextTransitionTime: "2026-01-02T03:04:01Z"}`, `{nextTransitionTime: soon}`}, Failed},
		"no object": {nil, Skipped},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := timesOf("nextTransitionTime", historyOf(t, test.states...))
			if err != nil || found.outcome != test.want {
				t.Errorf("got %v and %v, want %s", found, err, test.want)
			}
		})
	}
}

func TestNoVerdictTakesAProviderThatLooked(t *testing.T) {
	silent := errors.New("there is no Ready condition")
	tests := map[string]struct {
		states []string
		silent error
		want   Outcome
	}{
		"not ready":                {[]string{`{}`, `{conditions: [{type: Ready, status: "False"}]}`}, nil, Passed},
		"not ready, later a guess": {[]string{`{conditions: [{type: Ready, status: "False"}]}`, `{active: false}`}, nil, Failed},
		"nothing at all":           {[]string{`{}`}, silent, Skipped},
		"a guess":                  {[]string{`{}`, `{active: false}`}, silent, Failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := noVerdict(historyOf(t, test.states...), test.silent)
			if err != nil || found.outcome != test.want {
				t.Errorf("got %v and %v, want %s", found, err, test.want)
			}
		})
	}
}

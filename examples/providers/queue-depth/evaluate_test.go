// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/sdk"
)

var nine = time.Date(2026, time.June, 15, 9, 0, 0, 0, time.UTC)

func TestDecide(t *testing.T) {
	spec := QueueDepthScheduleSpec{StartAt: 10, StopAt: 2, MaxAge: metav1.Duration{Duration: 5 * time.Minute}}
	down := sdk.NotReady(sdk.ReasonNoAnswer, errors.New("no answer since nine"))
	wait := sdk.Decision{Active: true, Reason: "JobsWait", Message: "the depth reached 10 and has not come down to 2 since"}
	few := sdk.Decision{Reason: "FewJobsWait", Message: "the depth is less than 10"}
	held := wait
	held.Until, held.Message = nine.Add(time.Minute), wait.Message+"; no answer since nine"

	tests := map[string]struct {
		wasActive bool
		depth     float64
		age       time.Duration
		failed    error
		want      sdk.Decision
		wantErr   error
	}{
		"nothing waits":                        {false, 0, 0, nil, few, nil},
		"just below startAt":                   {false, 9, 0, nil, few, nil},
		"at startAt":                           {false, 10, 0, nil, wait, nil},
		"between the two it stays inactive":    {false, 3, 0, nil, few, nil},
		"between the two it stays active":      {true, 3, 0, nil, wait, nil},
		"at stopAt":                            {true, 2, 0, nil, few, nil},
		"a good answer counts until the next":  {true, 12, time.Hour, nil, wait, nil},
		"no answer, and the last one is young": {true, 12, 4 * time.Minute, down, held, nil},
		"no answer, and the last one is old":   {true, 12, 5 * time.Minute, down, sdk.Decision{}, down},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer := sdk.Answer[float64]{Value: test.depth, At: nine.Add(-test.age)}
			got, err := decide(spec, test.wasActive, answer, test.failed, nine)
			if !errors.Is(err, test.wantErr) {
				t.Errorf("got %v, want %v", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutAnyAnswerThereIsNoDecision(t *testing.T) {
	down := errors.New("down")
	spec := QueueDepthScheduleSpec{StartAt: 1, MaxAge: metav1.Duration{Duration: 24 * time.Hour}}
	if _, err := decide(spec, true, sdk.Answer[float64]{}, down, nine); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

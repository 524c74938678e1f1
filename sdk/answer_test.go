// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWhatIsKnownAfterEachAttempt(t *testing.T) {
	refused := errors.New("connection refused from port 4711")
	refusedAgain := errors.New("connection refused from port 4712")
	unauthorized := NotReady("Unauthorized", errors.New("401"))
	invalid := InvalidSpec(errors.New("the query does not parse"))
	const (
		never     = "tide.example has given no answer since 2026-06-15T12:01:00Z: connection refused from port 4711"
		sinceTwo  = "tide.example has given no answer since 2026-06-15T12:02:00Z, the last one is of 2026-06-15T12:01:00Z: connection refused from port 4711"
		sinceFour = "tide.example has given no answer since 2026-06-15T12:04:00Z, the last one is of 2026-06-15T12:01:00Z: 401"
	)
	type attempt struct {
		value  any
		err    error
		want   string // the error's text
		reason string
		news   bool
	}
	tests := []struct {
		name     string
		attempts []attempt // one a minute
		wantAt   int       // minutes
		want     any
	}{
		{
			name: "good answers", want: 3.5, wantAt: 3,
			attempts: []attempt{{value: 3.0, news: true}, {value: 3.0}, {value: 3.5, news: true}},
		},
		{
			name: "never one", want: nil,
			attempts: []attempt{
				{err: refused, want: never, reason: ReasonNoAnswer, news: true},
				{err: refusedAgain, want: never, reason: ReasonNoAnswer},
			},
		},
		{
			name: "one, then none, for one reason and another, then one", want: 4, wantAt: 7,
			attempts: []attempt{
				{value: 3, news: true},
				{err: refused, want: sinceTwo, reason: ReasonNoAnswer, news: true},
				{err: refusedAgain, want: sinceTwo, reason: ReasonNoAnswer},
				{err: unauthorized, want: sinceFour, reason: "Unauthorized", news: true},
				{err: unauthorized, want: sinceFour, reason: "Unauthorized"},
				{
					err: invalid, reason: ReasonInvalidSpec, news: true,
					want: "tide.example has given no answer since 2026-06-15T12:06:00Z, the last one is of 2026-06-15T12:01:00Z: the query does not parse",
				},
				{value: 4, news: true},
			},
		},
		{
			name: "the same one after a failure", want: 3, wantAt: 3,
			attempts: []attempt{
				{value: 3, news: true},
				{err: refused, want: sinceTwo, reason: ReasonNoAnswer, news: true},
				{value: 3, news: true},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start := noon.Truncate(time.Minute)
			state := answerState{}
			for i, attempt := range test.attempts {
				before := state
				state = before.after("tide.example", attempt.value, attempt.err, start.Add(time.Duration(i+1)*time.Minute))
				if got := state.news(before); got != attempt.news {
					t.Errorf("attempt %d: news is %t", i+1, got)
				}
				text, reason := "", ""
				if state.err != nil {
					text, reason = state.err.Error(), failure(state.err).reason
				}
				if text != attempt.want || reason != attempt.reason {
					t.Errorf("attempt %d: %s: %s\nwant %s: %s", i+1, reason, text, attempt.reason, attempt.want)
				}
			}
			var at time.Time
			if test.wantAt > 0 {
				at = start.Add(time.Duration(test.wantAt) * time.Minute)
			}
			if state.value != test.want || !state.at.Equal(at) {
				t.Errorf("the last good answer is %v of %v, want %v of %v", state.value, state.at, test.want, at)
			}
		})
	}
}

func TestQuestionsAreSpreadOverTheInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := time.Duration(rapid.Int64Range(int64(time.Second), int64(48*time.Hour)).Draw(t, "interval"))
		now := time.Unix(0, rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "now")).UTC()
		id := pollID{schedule: schedule(rapid.String().Draw(t, "name")), request: rapid.String().Draw(t, "request")}
		next := spread(id, interval, now)
		if !next.After(now) || next.Sub(now) > interval {
			t.Fatalf("after %v comes %v, which is not within %v", now, next, interval)
		}
		if again := spread(id, interval, next); again.Sub(next) != interval {
			t.Fatalf("after %v comes %v, want %v later", next, again, interval)
		}
	})
	quarters := map[int]int{}
	for i := range 1000 {
		id := pollID{schedule: schedule(fmt.Sprintf("desk-%d", i)), server: "tide.example", request: "/level"}
		quarters[int(spread(id, time.Minute, noon).Sub(noon)/(15*time.Second))]++
	}
	for quarter := range 4 {
		if n := quarters[quarter]; n < 200 || n > 300 {
			t.Errorf("in quarter %d of the minute %d of 1000 schedules ask", quarter+1, n)
		}
	}
}

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	var got []time.Duration
	for failures := range 8 {
		got = append(got, pause(failures+1, time.Second, 30*time.Second))
	}
	if text := fmt.Sprint(got); text != "[1s 2s 4s 8s 16s 30s 30s 30s]" {
		t.Errorf("pauses %s", text)
	}
	if got := pause(1<<40, time.Nanosecond, time.Hour); got != time.Hour {
		t.Errorf("after very many failures: %v", got)
	}
	if got := pause(1000, 0, time.Hour); got != 0 {
		t.Errorf("a pause of nothing becomes %v", got)
	}
}

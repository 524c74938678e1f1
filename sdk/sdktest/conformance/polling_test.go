// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// counted makes what one server was asked, beside the write that shows that it counts.
func counted(server float64, lists, patches int) *requests {
	return &requests{server: server, byVerb: map[string]int{"list": lists, "patch": patches}}
}

func TestPollingIsJudgedByWhatWasCounted(t *testing.T) {
	first, before := counted(1, 4, 0), counted(1, 4, 1)
	tests := map[string]struct {
		idle idleRequests
		want Outcome
	}{
		"no request":                    {idleRequests{span{first, before, counted(1, 4, 1), nil}, time.Minute}, Passed},
		"few":                           {idleRequests{span{first, before, counted(1, 6, 1), nil}, time.Minute}, Passed},
		"a poll every ten seconds":      {idleRequests{span{first, before, counted(1, 7, 1), nil}, longEnough}, Failed},
		"few in too short a time":       {idleRequests{span{first, before, counted(1, 6, 1), nil}, longEnough - 1}, Skipped},
		"none in too short a time":      {idleRequests{span{first, before, counted(1, 4, 1), nil}, time.Second}, Skipped},
		"more in however short a time":  {idleRequests{span{first, before, counted(1, 7, 1), nil}, time.Second}, Failed},
		"another server":                {idleRequests{span{first, before, counted(2, 70, 1), nil}, time.Minute}, Skipped},
		"another server from the start": {idleRequests{span{counted(2, 4, 0), before, counted(1, 70, 1), nil}, time.Minute}, Skipped},
		"a server that others ask":      {idleRequests{span{before, before, before, nil}, time.Minute}, Skipped},
		"not looked":                    {idleRequests{}, Skipped},
		"nothing to read":               {idleRequests{span{err: errPatience}, time.Minute}, Skipped},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := doesNotPoll(t.Context(), &env{options: &Options{}, idle: test.idle})
			if err != nil || found.outcome != test.want {
				t.Errorf("got %v and %v, want %s", found, err, test.want)
			}
		})
	}
	if slow := int(longEnough / slowPoll); slow <= fewRequests {
		t.Errorf("a slow poll makes %d requests in the time that is long enough, and %d are few", slow, fewRequests)
	}
}

func TestListsForNamespacesThatGoAreNoPoll(t *testing.T) {
	before := &requests{ofNamespaces: 4, cleared: 4}
	for lists, want := range map[int]int{4: 0, 7: 0, 9: 2} {
		after := &requests{ofNamespaces: lists, cleared: 7}
		if text, count := after.since(before); count != want {
			t.Errorf("%d lists for 3 namespaces: got %d, %q, want %d", lists-4, count, text, want)
		}
	}
}

func TestARestartIsSeenByItsRequests(t *testing.T) {
	first, before := counted(1, 4, 0), counted(1, 4, 1)
	ended := counted(1, 4, 2)
	ended.watches = 1
	tests := map[string]struct {
		during  span
		outcome Outcome
		says    string
	}{
		"it lists":            {span{first, before, counted(1, 5, 2), nil}, Passed, ""},
		"its watch ended":     {span{first, before, ended, nil}, Passed, ""},
		"it only writes":      {span{first, before, counted(1, 4, 2), nil}, Skipped, "nothing shows that the provider did restart"},
		"it is not counted":   {span{first, first, counted(1, 5, 2), nil}, Skipped, "cannot be seen"},
		"nobody says a count": {span{err: errors.New("forbidden")}, Skipped, "cannot be seen: forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := (&restartRequests{test.during}).judge()
			if err != nil || found.outcome != test.outcome || !strings.Contains(found.message, test.says) {
				t.Errorf("got %v and %v, want %s and %q", found, err, test.outcome, test.says)
			}
		})
	}
}

func TestASilenceIsWaitedForByWhatTheProviderTakes(t *testing.T) {
	for slowest, want := range map[time.Duration]time.Duration{
		0:                      time.Second,
		100 * time.Millisecond: time.Second,
		5 * time.Second:        10 * time.Second,
		50 * time.Second:       time.Minute,
	} {
		e := &env{options: &Options{Patience: time.Minute}, slowest: slowest}
		if got := e.moment(); got != want {
			t.Errorf("a verdict that took %s: got %s, want %s", slowest, got, want)
		}
	}
}

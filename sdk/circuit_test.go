// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"
	"time"
)

func TestTheCircuitOfAServer(t *testing.T) {
	type step struct {
		at       time.Duration // since the beginning
		result   string        // "" asks for admission only
		admitted bool
		opened   bool
		recovers bool
	}
	failing := func(n int) []step {
		var steps []step
		for range n {
			steps = append(steps, step{result: resultFailed, admitted: true, opened: len(steps) == circuitFailures-1})
		}
		return steps
	}
	tests := map[string][]step{
		"four failures are not enough": append(failing(4), step{admitted: true}),
		"five failures open it for a pause": append(failing(5),
			step{at: 0}, step{at: circuitPause - 1},
			step{at: circuitPause, admitted: true}, // one tries
			step{at: circuitPause},                 // and no other
		),
		"an answer closes it": append(failing(5),
			step{at: circuitPause, result: resultAnswered, admitted: true, recovers: true},
			step{at: circuitPause, admitted: true}, step{at: circuitPause, admitted: true},
		),
		"a refusal is an answer": append(failing(5),
			step{at: circuitPause, result: resultRefused, admitted: true, recovers: true}),
		"a failure doubles the pause": append(failing(5),
			step{at: circuitPause, result: resultFailed, admitted: true},
			step{at: 3*circuitPause - 1},
			step{at: 3 * circuitPause, result: resultFailed, admitted: true},
			step{at: 7*circuitPause - 1},
			step{at: 7 * circuitPause, admitted: true},
		),
		"the pause has a bound": append(failing(60), step{at: circuitPauseMax - 1}, step{at: circuitPauseMax, admitted: true}),
		"who tries and is not let in leaves the try to others": append(failing(5),
			step{at: circuitPause, result: resultSkipped, admitted: true},
			step{at: circuitPause, admitted: true},
		),
		"failures in between answers do not add up": append(append(failing(4), step{result: resultAnswered, admitted: true}),
			step{result: resultFailed, admitted: true}, step{admitted: true}),
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			c := circuit{}
			for i, s := range steps {
				now := noon.Add(s.at)
				// Those that are under way when it opens report still.
				if admitted := i >= circuitFailures && s.result == resultFailed && s.at == 0 || c.admits(now); admitted != s.admitted {
					t.Fatalf("step %d, at %v: admitted is %t", i+1, s.at, admitted)
				}
				if s.result == "" {
					continue
				}
				opened, recovers := c.learn(s.result, now)
				if opened != s.opened || recovers != s.recovers {
					t.Errorf("step %d, at %v: opened is %t, recovers %t", i+1, s.at, opened, recovers)
				}
			}
		})
	}
}

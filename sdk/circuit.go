// SPDX-License-Identifier: Apache-2.0

package sdk

import "time"

const (
	// circuitFailures is how many failures in a row open the circuit.
	circuitFailures = 5
	// circuitPause is how long nobody asks then; it doubles with each further
	// failure, up to circuitPauseMax.
	circuitPause    = 5 * time.Second
	circuitPauseMax = time.Minute
)

// circuit decides whether a server is asked. It is open while the server fails:
// nobody asks for a pause, and after that one at a time.
type circuit struct {
	// failures is their number in a row.
	failures int
	// until is when the pause ends.
	until time.Time
	// trying is set while one asks though the circuit is open.
	trying bool
}

func (c *circuit) open() bool { return c.failures >= circuitFailures }

// admits reports whether to ask now. Who is admitted has to tell by learn what
// came of it.
func (c *circuit) admits(now time.Time) bool {
	if !c.open() {
		return true
	}
	if c.trying || now.Before(c.until) {
		return false
	}
	c.trying = true
	return true
}

// learn takes note of the result of an attempt.
func (c *circuit) learn(result string, now time.Time) (opened, recovered bool) {
	wasOpen := c.open()
	c.trying = false
	switch result {
	case resultFailed:
		c.failures++
		c.until = now.Add(pause(c.failures-circuitFailures+1, circuitPause, circuitPauseMax))
	case resultSkipped:
		// It says nothing of the server.
	default:
		c.failures = 0
	}
	return !wasOpen && c.open(), wasOpen && !c.open()
}

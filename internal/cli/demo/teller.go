// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A teller prints lines with the seconds since the story began.
type teller struct {
	out   io.Writer
	clock clock.PassiveClock
	begin time.Time

	mu sync.Mutex
}

func (t *teller) say(format string, arguments ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%6.1fs  %s\n", t.clock.Since(t.begin).Seconds(), fmt.Sprintf(format, arguments...))
}

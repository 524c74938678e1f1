// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds a chapter; each takes seconds.
const patience = 2 * time.Minute

// A chapter does something and waits for what comes of it.
type chapter struct {
	title string
	do    func(context.Context, client.Client) error
	facts []fact
}

// A fact becomes true once. Its line is printed then.
type fact struct {
	line  string
	holds func(*state) bool
	// passing facts are true for a moment only; the chapter does not wait for
	// them.
	passing bool
}

// play does the chapter and returns when its facts have come true.
func (ch chapter) play(ctx context.Context, c client.Client, w *world, t *teller) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took more than %s", patience))
	defer cancel()
	t.say("%s", ch.title)
	pending := ch.facts
	done := make(chan struct{})
	finish := sync.OnceFunc(func() { close(done) })
	// Before anything is done, so that no moment is missed.
	w.onChange(func(now *state) {
		if pending = tell(pending, now, t); !anyLasting(pending) {
			pending = nil // what is passing has passed
			finish()
		}
	})
	defer w.onChange(func(*state) {})
	if err := ch.do(ctx, c); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		var last state
		w.onChange(func(now *state) { last = *now })
		return fmt.Errorf("waiting for %s: %w; %s", lines(pending), context.Cause(ctx), last.describe())
	}
}

// tell prints the facts that have come true and returns the others.
func tell(pending []fact, now *state, t *teller) []fact {
	var rest []fact
	for _, f := range pending {
		if f.holds(now) {
			t.say("  %s", f.line)
		} else {
			rest = append(rest, f)
		}
	}
	return rest
}

func anyLasting(facts []fact) bool {
	for _, f := range facts {
		if !f.passing {
			return true
		}
	}
	return false
}

func lines(facts []fact) string {
	var all []string
	for _, f := range facts {
		if !f.passing {
			all = append(all, fmt.Sprintf("%q", f.line))
		}
	}
	return strings.Join(all, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"time"
)

// span is what the API server was asked about the kind until three instants: the
// first, and the two ends of the time that counts. Between the first and the second
// the provider wrote the status of a new object, which has to be among it.
type span struct {
	first, before, after *requests
	err                  error
}

// read counts the requests until now, unless that failed before.
func (s *span) read(ctx context.Context, e *env) *requests {
	if s.err != nil {
		return nil
	}
	var now *requests
	now, s.err = e.requests(ctx)
	return now
}

// uncounted says why the requests of the provider cannot be counted; empty if they
// can. Each API server counts those that it answered itself.
func (s *span) uncounted() string {
	switch {
	case s.err != nil:
		return s.err.Error()
	case s.first.server != s.before.server || s.before.server != s.after.server:
		return "more than one API server answered, so that requests cannot be counted"
	}
	if _, count := s.before.since(s.first); count == 0 {
		return "the API server that answers the kit does not count what the provider asks: there seems to be another one"
	}
	return ""
}

// idleRequests are the requests of a time without edits.
type idleRequests struct {
	span

	// watched is how long that was; zero if nobody looked.
	watched time.Duration
}

const (
	// fewRequests is what may have another cause than a poll: Kubernetes itself
	// lists the objects of a kind that is new to it, once for each thing that it
	// keeps an account of.
	fewRequests = 2
	// slowPoll is a poll that has to be seen before its absence is told.
	slowPoll = 10 * time.Second
	// longEnough has a slow poll make more than a few requests.
	longEnough = (fewRequests + 1) * slowPoll
)

func doesNotPoll(_ context.Context, e *env) (finding, error) {
	idle := &e.idle
	if idle.watched == 0 {
		return skip("it takes the time of %s", idIdle)
	}
	if why := idle.uncounted(); why != "" {
		return skip("%s", why)
	}
	text, count := idle.after.since(idle.before)
	switch {
	case count > fewRequests:
		return fail("within %s the API server was asked about the kind %d times: %s", idle.watched, count, text)
	case idle.watched < longEnough:
		return skip("%s are too short to see a poll every %s: give --idle-for %s or longer (Options.IdleFor)", idle.watched, slowPoll, longEnough)
	}
	return pass("none that comes every %s or more often", idle.watched/(fewRequests+1))
}

// restartRequests are the requests of the time in which the provider restarted.
type restartRequests struct{ span }

// judge passes when the API server saw the provider begin anew. Where it did not,
// that nothing was written says nothing.
func (r *restartRequests) judge() (finding, error) {
	if why := r.uncounted(); why != "" {
		return skip("whether the provider did restart cannot be seen: %s", why)
	}
	if !r.after.beganSince(r.before) {
		return skip("nothing was written, and nothing shows that the provider did restart: no watch of the kind ended and none of its objects " +
			"were listed; see what --pod-selector or --restart-command does (Options.Restart)")
	}
	return pass("")
}

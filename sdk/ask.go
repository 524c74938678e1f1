// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Question is what a schedule has to ask somebody outside of the cluster, again
// and again: a metric of Prometheus, the state of a ticket. See [Ask].
type Question[T any] struct {
	// Server is whom it is asked of, for example "https://prometheus.example.com":
	// what fails as one. It shows in messages and logs. At most four questions of all schedules are under way at
	// one server; and a server that has failed five times in a row is asked by one
	// of them only, now and then, until it answers. No server delays another.
	Server string

	// Request is what is asked: the query, or the path. An answer belongs to the
	// Server and the Request, and is void when one of them is edited. Leave
	// credentials out, which may be renewed while the answer stays good.
	Request string

	// Interval is the pause between two times of asking. Zero means one minute;
	// less than a second is taken as a second. The schedules of one interval are
	// spread evenly over it. Between two times the answer stands: [Decision.Until]
	// is kept to the instant, whatever the interval.
	Interval time.Duration

	// Timeout is how long to wait for an answer, the wait for a place at the
	// server included. Zero means ten seconds.
	Timeout time.Duration

	// Ask asks. It is called outside of Evaluate, by the provider, when the time
	// has come, and has to heed ctx, which ends after the Timeout. It may use what
	// Evaluate knew when it called [Ask] last, a password from a Secret say.
	//
	// The type of its error tells whose fault it is. That of [NotReady] and
	// [InvalidSpec] is what the server said of this one request; any other is held
	// against the server. Its text is published: it must hold no secret, token or
	// response body.
	Ask func(ctx context.Context) (T, error)
}

const (
	defaultInterval = time.Minute
	minInterval     = time.Second
	defaultTimeout  = 10 * time.Second
)

// Answer is the last good answer to a [Question].
type Answer[T any] struct {
	// Value is the answer; the zero value of T when there was none yet. What it
	// points to is not to be changed: the next call of Evaluate gets the same one.
	Value T
	// At is the instant at which it came; zero when there was none yet. It is
	// the one that was current when the answer, or whether there is one, last
	// changed or Evaluate is called for another reason.
	At time.Time
}

// Age returns how old the answer is, and the longest possible duration when
// there is none.
func (a Answer[T]) Age(now time.Time) time.Duration {
	if a.At.IsZero() {
		return time.Duration(1<<63 - 1)
	}
	return now.Sub(a.At)
}

// Ask returns what is known of a question of the schedule under evaluation; the
// ctx is the one that Evaluate was given. It asks nothing itself and waits for
// nothing: the provider asks, by itself and at the question's interval, for as
// long as Evaluate goes on to call Ask with it, and calls Evaluate again when the
// answer is another one. Where there has been no answer and no failure yet, the
// call of Evaluate is void, whatever it returns.
//
// The error is nil while the last attempt was good. Otherwise it is meant to be
// returned from Evaluate: a [NotReady] for [ReasonNoAnswer], or for the reason
// that the question's Ask gave; or an [InvalidSpec] from there. Its text says
// since when there is no answer, and stays the same for as long as the reason
// does, so that a server that is away for a night costs one write. The answer
// beside the error is the last good one, for those who trust it for a while:
//
//	load, err := sdk.Ask(ctx, question)
//	if err != nil && load.Age(now) >= grace {
//		return sdk.Decision{}, err
//	}
//	...
//	if err != nil {
//		decision.Until = load.At.Add(grace)
//	}
//
// After a failure the pauses begin short and double up to the interval (see
// [WithBackoff]). An edit of the spec, and of an object that was read before Ask
// was called, is reason to ask at once, though not twice within a second.
func Ask[T any](ctx context.Context, question Question[T]) (Answer[T], error) {
	var none Answer[T]
	e := evaluationOf(ctx)
	if e == nil {
		return none, errors.New("there is nobody to ask in this context; pass on the one that Evaluate was given")
	}
	if question.Ask == nil {
		return none, fmt.Errorf("the question for %q has no function that asks; this is a mistake in the provider", question.Server)
	}
	state, err := e.ask(question.plain())
	value, ok := state.value.(T)
	if !ok && state.value != nil {
		return none, fmt.Errorf("two questions with different answers, %T and %T, are both %q of %q; this is a mistake in the provider",
			state.value, value, question.Request, question.Server)
	}
	return Answer[T]{Value: value, At: state.at}, err
}

// question is a Question without its type.
type question struct {
	server, request   string
	interval, timeout time.Duration
	ask               func(ctx context.Context) (any, error)
	// secrets are the values of the Secrets that Evaluate had read.
	secrets []string
}

func (q Question[T]) plain() question {
	plain := question{
		server: q.Server, request: q.Request, interval: max(q.Interval, minInterval), timeout: q.Timeout,
		ask: func(ctx context.Context) (any, error) { return q.Ask(ctx) },
	}
	if q.Interval <= 0 {
		plain.interval = defaultInterval
	}
	if q.Timeout <= 0 {
		plain.timeout = defaultTimeout
	}
	return plain
}

// ask returns what is known of a question.
func (e *evaluation) ask(q question) (answerState, error) {
	id := pollID{schedule: e.schedule, server: q.server, request: q.request}
	looked, secrets := e.lookedAt()
	q.secrets = secrets
	state := e.inputs.polls.ask(id, q, looked, e.now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, id)
	if !state.known {
		e.incomplete = true
		return state, errIncomplete
	}
	return state, state.err
}

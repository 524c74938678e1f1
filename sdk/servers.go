// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/semaphore"
	"k8s.io/utils/clock"
)

// placesPerServer is how many questions are under way at one server.
const placesPerServer = 4

// servers asks servers, each within its bounds.
type servers struct {
	clock  clock.Clock
	logger logr.Logger
	// counted is told the result of every attempt, see measures.asked.
	counted func(result string)
	// recovered is told of a server that answers after its circuit was open.
	recovered func(server string)

	mu     sync.Mutex
	byName map[string]*server
}

// server is one of them.
type server struct {
	places *semaphore.Weighted

	mu      sync.Mutex
	circuit circuit
}

// Results of an attempt, for the metrics.
const (
	resultAnswered = "answered"
	resultRefused  = "refused" // it answered that it does not
	resultFailed   = "failed"
	resultSkipped  = "skipped" // it was not asked
)

var (
	errCircuitOpen = errors.New("it fails, and until it answers it is asked by one schedule at a time")
	errNoPlace     = errors.New("it is slow, and questions of other schedules take up all places at it")
)

// timeoutError is why an attempt ends that takes too long.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

func (s *servers) of(name string) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byName[name]
	if !ok {
		known = &server{places: semaphore.NewWeighted(placesPerServer)}
		s.byName[name] = known
	}
	return known
}

// ask asks a question of its server. It returns after the question's timeout at
// the latest, whatever the question's function does.
func (s *servers) ask(ctx context.Context, q question) (any, error) {
	asked := s.of(q.server)
	if !asked.admits(s.clock.Now()) {
		s.counted(resultSkipped)
		return nil, errCircuitOpen
	}
	a := attempt{server: asked, question: q}
	value, err := a.run(ctx, s.clock)
	err = redactError(err, q.secrets)
	if ctx.Err() != nil {
		return nil, ctx.Err() // the process is stopping
	}
	result := a.result(err)
	s.counted(result)
	if panicked := (*panicError)(nil); errors.As(err, &panicked) {
		s.logger.Error(err, "asking panicked", "server", q.server, "panic", panicked.presentable(), "stack", string(panicked.stack))
	}
	switch opened, recovered := asked.learn(result, s.clock.Now()); {
	case opened:
		s.logger.Info("a server fails; until it answers it is asked by one schedule at a time", "server", q.server, "error", err.Error())
	case recovered:
		s.logger.Info("a server answers again", "server", q.server)
		s.recovered(q.server)
	}
	return value, err
}

// forget drops what is known of a server that nobody asks any more.
func (s *servers) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, name)
}

func (s *server) admits(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.circuit.admits(now)
}

func (s *server) learn(result string, now time.Time) (opened, recovered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.circuit.learn(result, now)
}

// attempt is one question, asked once.
type attempt struct {
	*server

	question question
	// asked is set once it has a place at the server.
	asked atomic.Bool
}

type attemptResult struct {
	value any
	err   error
}

func (a *attempt) run(ctx context.Context, clock clock.Clock) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := clock.NewTimer(a.question.timeout)
	defer late.Stop()
	ended := make(chan attemptResult, 1)
	go func() {
		value, err := a.ask(ctx)
		ended <- attemptResult{value, err}
	}()
	select {
	case result := <-ended:
		return result.value, result.err
	case <-late.C():
		cancel(&timeoutError{a.question.timeout})
		if !a.asked.Load() {
			return nil, errNoPlace
		}
		return nil, context.Cause(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask asks when there is a place at the server. The place is taken until the
// question's function returns, even if nobody waits for it any more.
func (a *attempt) ask(ctx context.Context) (value any, err error) {
	if err := a.places.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer a.places.Release(1)
	defer func() {
		if value := recover(); value != nil {
			err = NotReady(ReasonEvaluationPanicked, &panicError{value: value, stack: debug.Stack()})
		}
	}()
	a.asked.Store(true)
	return a.question.ask(ctx)
}

// result tells what an attempt says of the server.
func (a *attempt) result(err error) string {
	notReady, invalid := (*NotReadyError)(nil), (*InvalidSpecError)(nil)
	switch {
	case err == nil:
		return resultAnswered
	case !a.asked.Load():
		return resultSkipped
	case errors.As(err, &notReady), errors.As(err, &invalid):
		return resultRefused
	}
	return resultFailed
}

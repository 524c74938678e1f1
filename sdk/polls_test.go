// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
)

// asking is the polls of a provider, running by a fake clock. Everything that
// happens shows on a channel, so a test waits for what it wants to see.
type asking struct {
	*polls

	t        *testing.T
	clock    *clocktesting.FakeClock
	measures *measures
	// asked is sent the name of each question that is asked, which then waits for
	// its reply.
	asked   chan string
	replies map[string]chan reply
	woken   chan string
	// ended is sent a value when an attempt has ended, whatever became of it.
	ended chan struct{}

	mu  sync.Mutex
	log []string
}

type reply struct {
	value any
	err   error
}

// patience bounds a wait for something that is to happen.
const patience = 20 * time.Second

func newAsking(t *testing.T) *asking {
	t.Helper()
	a := &asking{
		t: t, clock: clocktesting.NewFakeClock(noon), asked: make(chan string, 1000),
		replies: map[string]chan reply{}, woken: make(chan string, 1000), ended: make(chan struct{}, 1000),
	}
	var err error
	if a.measures, err = newMeasures(prometheus.NewRegistry(), tideKind.Kind, ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var background sync.WaitGroup
	a.polls = newInputs(ctx, inputsConfig{
		options:  options{clock: a.clock, backoffBase: time.Second, backoffMax: time.Minute},
		logger:   a.logger(),
		measures: a.measures,
		wake:     func(schedule types.NamespacedName) { a.woken <- schedule.Name },
		begin: func(attempt func()) {
			background.Go(func() {
				attempt()
				a.ended <- struct{}{}
			})
		},
	}).polls
	var alarms sync.WaitGroup
	alarms.Go(func() { a.alarms.Run(ctx, a.due) })
	t.Cleanup(func() {
		cancel()
		alarms.Wait()
		background.Wait()
	})
	return a
}

func (a *asking) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.log = append(a.log, args)
	}, funcr.Options{})
}

// put has a schedule put a question, as Evaluate does.
func (a *asking) put(name, server, looked string, change ...func(*question)) answerState {
	a.t.Helper()
	if a.replies[name] == nil {
		a.replies[name] = make(chan reply)
	}
	replies := a.replies[name]
	q := question{server: server, interval: time.Minute, timeout: 10 * time.Second, ask: func(ctx context.Context) (any, error) {
		a.asked <- name
		select {
		case r := <-replies:
			return r.value, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	for _, change := range change {
		change(&q)
	}
	return a.ask(a.id(name, server), q, looked, a.clock.Now())
}

func (a *asking) id(name, server string) pollID {
	return pollID{schedule: schedule(name), server: server}
}

// next returns what a channel brings next.
func next[T any](a *asking, what string, from <-chan T) T {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	select {
	case got := <-from:
		return got
	case <-ctx.Done():
		a.t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// reply answers the question that is asked next, which has to be name's, and
// returns when the attempt has ended.
func (a *asking) reply(name string, value any, err error) {
	a.t.Helper()
	if got := next(a, name+" to be asked", a.asked); got != name {
		a.t.Fatalf("%s was asked, want %s", got, name)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	select {
	case a.replies[name] <- reply{value, err}:
		next(a, "the attempt to end", a.ended)
	case <-ctx.Done():
		a.t.Fatalf("nobody waits for the answer to %s", name)
	}
}

// wakes returns when the schedule is woken, which has to be the next one to be.
func (a *asking) wakes(name string) {
	a.t.Helper()
	if got := next(a, name+" to be woken", a.woken); got != name {
		a.t.Fatalf("%s was woken, want %s", got, name)
	}
}

func (a *asking) stateOf(name, server string) answerState {
	a.polls.mu.Lock()
	defer a.polls.mu.Unlock()
	return a.byID[a.id(name, server)].state
}

// nextAt returns when the question is asked again.
func (a *asking) nextAt(name, server string) time.Time {
	a.t.Helper()
	at, ok := a.alarms.At(a.id(name, server))
	if !ok {
		a.t.Fatalf("%s is not asked again", name)
	}
	return at
}

func TestAQuestionIsAskedAtOnceAndThenAtItsInterval(t *testing.T) {
	a := newAsking(t)
	if state := a.put("desk", "tide", "1"); state.known {
		t.Errorf("something is known before it was asked: %+v", state)
	}
	a.reply("desk", 3.5, nil)
	a.wakes("desk")
	first := a.nextAt("desk", "tide")
	if wait := first.Sub(a.clock.Now()); wait <= 0 || wait > time.Minute {
		t.Errorf("it is asked again after %v", wait)
	}
	a.clock.SetTime(first)
	a.reply("desk", 3.5, nil) // no news
	if second := a.nextAt("desk", "tide"); second.Sub(first) != time.Minute {
		t.Errorf("after %v it is asked at %v", first, second)
	}
	if state := a.stateOf("desk", "tide"); !state.at.Equal(first) {
		t.Errorf("the answer is of %v, want %v", state.at, first)
	}
	a.clock.SetTime(first.Add(time.Minute))
	a.reply("desk", 4.0, nil)
	a.wakes("desk")
	if len(a.woken) > 0 {
		t.Error("an equal answer woke the schedule")
	}
}

func TestAFailureIsRetriedAfterPausesThatGrow(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1")
	a.reply("desk", nil, errors.New("connection refused"))
	a.wakes("desk")
	var pauses []time.Duration
	for range 9 {
		at := a.nextAt("desk", "tide")
		pauses = append(pauses, at.Sub(a.clock.Now()))
		a.clock.SetTime(at)
		if len(pauses) < circuitFailures {
			a.reply("desk", nil, errors.New("connection refused"))
		} else {
			a.clock.Step(circuitPauseMax) // past any pause of the circuit
			a.reply("desk", nil, errors.New("connection refused"))
		}
	}
	if got := fmt.Sprint(pauses); got != "[1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s]" {
		t.Errorf("pauses %s", got)
	}
	if len(a.woken) > 0 {
		t.Error("a failure that is like the one before woke the schedule")
	}
}

func TestAnEditOrARenewedSecretAsksAtOnceAndKeepsTheAnswer(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1")
	a.reply("desk", 3, nil)
	a.wakes("desk")
	if state := a.put("desk", "tide", "1"); state.value != 3 || state.err != nil {
		t.Errorf("known is %+v", state)
	}
	if at := a.nextAt("desk", "tide"); !at.After(a.clock.Now()) {
		t.Error("an evaluation of the same inputs asks again")
	}
	if state := a.put("desk", "tide", "2"); state.value != 3 || state.err != nil {
		t.Errorf("after an edit, known is %+v", state)
	}
	if wait := a.nextAt("desk", "tide").Sub(a.clock.Now()); wait != time.Second {
		t.Errorf("after an edit in the second of the last attempt it is asked after %v", wait)
	}
	a.clock.Step(time.Second)
	if got := next(a, "desk to be asked", a.asked); got != "desk" {
		t.Fatalf("%s was asked", got)
	}
	a.put("desk", "tide", "3") // while the attempt is under way
	a.replies["desk"] <- reply{value: 3}
	next(a, "the attempt to end", a.ended)
	a.clock.Step(time.Second)
	a.reply("desk", 4, nil)
	a.wakes("desk")

	a.clock.Step(time.Second)
	a.put("desk", "tide", "4")
	a.reply("desk", 4, nil) // at once
}

func TestAnotherIntervalCountsFromNow(t *testing.T) {
	a := newAsking(t)
	hourly := func(q *question) { q.interval = time.Hour }
	a.put("desk", "tide", "1", hourly)
	a.reply("desk", 3, nil)
	a.put("desk", "tide", "1", func(q *question) { q.interval = 2 * time.Second })
	if wait := a.nextAt("desk", "tide").Sub(a.clock.Now()); wait > 2*time.Second {
		t.Errorf("it is asked after %v", wait)
	}
}

func TestNoAnswerInTime(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1")
	next(a, "desk to be asked", a.asked)
	a.clock.Step(10*time.Second - 1)
	if len(a.ended) > 0 {
		t.Error("it was given up early")
	}
	a.clock.Step(1)
	next(a, "the attempt to end", a.ended)
	a.wakes("desk")
	want := "tide has given no answer since 2026-06-15T12:00:10Z: no answer within 10s"
	if err := a.stateOf("desk", "tide").err; err == nil || err.Error() != want {
		t.Errorf("known is %v, want %s", err, want)
	}
}

func TestASlowServerDelaysNoOther(t *testing.T) {
	const n = 20
	a := newAsking(t)
	for i := range n {
		a.put(fmt.Sprintf("slow-%d", i), "slow", "1")
	}
	for range placesPerServer {
		if got := next(a, "the slow server to be asked", a.asked); !strings.HasPrefix(got, "slow-") {
			t.Fatalf("%s was asked", got)
		}
	}
	a.put("desk", "quick", "1")
	a.reply("desk", 3, nil) // and none of the others that wait for the slow one
	a.wakes("desk")

	// Nobody waits for longer than the timeout, in which four were asked.
	a.awaitTimers(n + 1) // with the one for the next time of the quick one
	a.clock.Step(10 * time.Second)
	told := map[string]int{}
	for range n {
		name := next(a, "the attempts to be given up", a.woken)
		_, why, _ := strings.Cut(a.stateOf(name, "slow").err.Error(), ": ")
		told[why]++
	}
	// The place of one that is given up may still go to another in that instant.
	if late := told["no answer within 10s"]; late < placesPerServer || told[errNoPlace.Error()] != n-late {
		t.Errorf("schedules are told %v", told)
	}
}

// awaitTimers returns when so many timers of the clock run.
func (a *asking) awaitTimers(n int) {
	a.t.Helper()
	err := wait.PollUntilContextTimeout(a.t.Context(), time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return a.clock.Waiters() >= n, nil })
	if err != nil {
		a.t.Fatalf("%d timers run, want %d", a.clock.Waiters(), n)
	}
}

func TestAServerThatFailsIsAskedByOneUntilItAnswers(t *testing.T) {
	a := newAsking(t)
	names := []string{"a", "b", "c", "d", "e", "f"}
	for i, name := range names {
		a.put(name, "tide", "1")
		if i < circuitFailures {
			a.reply(name, nil, errors.New("connection refused"))
		} else {
			next(a, "the attempt to be skipped", a.ended)
		}
		a.wakes(name)
	}
	if got := a.stateOf("f", "tide").err.Error(); !strings.HasSuffix(got, errCircuitOpen.Error()) {
		t.Errorf("f is told %q", got)
	}
	if text := a.stateOf("f", "tide").err.Error(); strings.Contains(text, "refused") {
		t.Errorf("f is told what others asked: %q", text)
	}
	a.put("desk", "other", "1")
	a.reply("desk", 3, nil)
	a.wakes("desk")

	// During the pause retries are skipped, without a word to anybody.
	a.clock.Step(circuitPause - 1)
	for range names {
		next(a, "the retries to be skipped", a.ended)
	}
	if len(a.asked) > 0 || len(a.woken) > 0 {
		t.Errorf("%d were asked and %d woken during the pause", len(a.asked), len(a.woken))
	}
	// After it one tries. Its answer has all others ask at once.
	a.clock.Step(3 * time.Second)
	first := next(a, "one to be asked", a.asked)
	for range len(names) - 1 {
		next(a, "the others to be skipped", a.ended)
	}
	if len(a.asked) > 0 {
		t.Errorf("%s is asked as well", <-a.asked)
	}
	a.replies[first] <- reply{value: 1}
	next(a, "the attempt to end", a.ended)
	a.wakes(first)
	for range len(names) - 1 {
		name := next(a, "the others to be asked", a.asked)
		a.replies[name] <- reply{value: 1}
	}
	for range len(names) - 1 {
		next(a, "the others to be woken", a.woken)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if log := strings.Join(a.log, "\n"); strings.Count(log, "a server fails") != 1 || strings.Count(log, "answers again") != 1 {
		t.Errorf("the log:\n%s", log)
	}
}

func TestWhatOneScheduleGetsWrongIsNotHeldAgainstTheServer(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1", func(q *question) { q.interval = time.Second })
	for range 2 * circuitFailures {
		a.reply("desk", nil, NotReady("Unauthorized", errors.New("401")))
		a.clock.SetTime(a.nextAt("desk", "tide"))
	}
	a.reply("desk", nil, InvalidSpec(errors.New("the query does not parse")))
	a.put("other", "tide", "1")
	a.reply("other", 3, nil)
}

func TestAPanicOfAQuestionIsToldWithoutItsValue(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1", func(q *question) {
		q.ask = func(context.Context) (any, error) { panic("hunter22") }
	})
	next(a, "the attempt to end", a.ended)
	a.wakes("desk")
	failed := failure(a.stateOf("desk", "tide").err)
	if failed.reason != ReasonEvaluationPanicked {
		t.Errorf("it reads as %s", failed.reason)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	log := strings.Join(a.log, "\n")
	if strings.Contains(log+failed.message, "hunter22") || !strings.Contains(log, "polls_test.go") {
		t.Errorf("status %q, log:\n%s", failed.message, log)
	}
}

func TestASecretInAnErrorIsNotLogged(t *testing.T) {
	a := newAsking(t)
	for range circuitFailures {
		a.put("desk", "tide", "1", func(q *question) { q.secrets = []string{"hunter22"} })
		a.reply("desk", nil, errors.New(`Get "https://tide?key=hunter22": connection refused`))
		a.clock.SetTime(a.nextAt("desk", "tide"))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	log := strings.Join(a.log, "\n")
	if strings.Contains(log, "hunter22") || !strings.Contains(log, "connection refused") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestAQuestionThatNobodyPutsIsNotAsked(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1")
	a.put("desk", "moon", "1", func(q *question) { q.ask = func(context.Context) (any, error) { return "full", nil } })
	a.wakes("desk")
	next(a, "desk to be asked", a.asked)
	a.keep(schedule("desk"), []pollID{a.id("desk", "moon")})
	a.replies["desk"] <- reply{value: 3}
	for range 2 {
		next(a, "both attempts to end", a.ended)
	}
	if len(a.woken) > 0 {
		t.Error("an answer that nobody wants any more woke the schedule")
	}
	a.keep(schedule("desk"), nil)
	for _, server := range []string{"tide", "moon"} {
		if at, ok := a.alarms.At(a.id("desk", server)); ok {
			t.Errorf("%s is asked at %v", server, at)
		}
	}
	if len(a.byID)+len(a.bySchedule)+len(a.perServer)+len(a.servers.byName) > 0 {
		t.Errorf("something is kept: %v %v %v %v", a.byID, a.bySchedule, a.perServer, a.servers.byName)
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	a := newAsking(t)
	a.put("desk", "tide", "1", func(q *question) { q.interval = time.Second })
	a.reply("desk", 3, nil)
	for _, err := range []error{NotReady("Unauthorized", errors.New("401")), errors.New("reset"), errors.New("reset")} {
		a.clock.SetTime(a.nextAt("desk", "tide"))
		a.reply("desk", nil, err)
	}
	want := `
# HELP fivespot_schedule_questions_total Times that a server outside of the cluster was to be asked: answered, refused, failed, or skipped.
# TYPE fivespot_schedule_questions_total counter
fivespot_schedule_questions_total{kind="Tide",result="answered"} 1
fivespot_schedule_questions_total{kind="Tide",result="failed"} 2
fivespot_schedule_questions_total{kind="Tide",result="refused"} 1
`
	if err := testutil.CollectAndCompare(a.measures.questions, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestWhatAnAttemptSaysOfTheServer(t *testing.T) {
	tests := []struct {
		name  string
		asked bool
		err   error
		want  string
	}{
		{"an answer", true, nil, resultAnswered},
		{"a refusal", true, fmt.Errorf("asking: %w", NotReady("Unauthorized", errors.New("401"))), resultRefused},
		{"a request that cannot be", true, InvalidSpec(errors.New("no query")), resultRefused},
		{"a failure", true, errors.New("connection refused"), resultFailed},
		{"no answer in time", true, &timeoutError{defaultTimeout}, resultFailed},
		{"no place in time", false, errNoPlace, resultSkipped},
	}
	for _, test := range tests {
		a := &attempt{}
		a.asked.Store(test.asked)
		if got := a.result(test.err); got != test.want {
			t.Errorf("%s reads as %s, want %s", test.name, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk"
)

// gauge is a server outside of the cluster.
type gauge struct {
	// seen is sent each level that Evaluate sees.
	seen chan float64

	mu    sync.Mutex
	level float64
	err   error
}

func newGauge(level float64) *gauge { return &gauge{level: level, seen: make(chan float64, 10_000)} }

func (g *gauge) set(level float64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.level, g.err = level, err
}

func (g *gauge) ask(context.Context) (float64, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.level, g.err
}

// awaitSeen returns when Evaluate has seen the level, which is after the provider
// has decided when to ask again.
func (g *gauge) awaitSeen(t *testing.T, level float64) {
	t.Helper()
	ctx := devplanetest.Context(t)
	for {
		select {
		case seen := <-g.seen:
			if seen == level {
				return
			}
		case <-ctx.Done():
			t.Fatalf("Evaluate does not see the level %v", level)
		}
	}
}

// gauged is a provider of ManualSchedule that is active while the level is above
// one, and before spec.until. For any object but the namespace's desk it asks
// nothing: time jumps here, and a question under way would be late.
func gauged(namespace string, g *gauge, options ...sdk.Option) *sdk.Provider {
	return sdk.New(manualKind, func(ctx context.Context, s *v1alpha1.ManualSchedule, now time.Time) (sdk.Decision, error) {
		if s.Namespace != namespace || s.Name != "desk" {
			return sdk.Decision{Active: true}, nil
		}
		level, err := sdk.Ask(ctx, sdk.Question[float64]{Server: "gauge", Request: "level", Ask: g.ask})
		if err != nil {
			return sdk.Decision{}, err
		}
		g.seen <- level.Value
		if !now.Before(s.Spec.Until.Time) {
			return sdk.Decision{}, nil
		}
		return sdk.Decision{Active: level.Value > 1, Until: s.Spec.Until.Time}, nil
	}, options...)
}

func TestAnAnswerThatChangesNoDecisionCostsNoWrite(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	seen := watchRequests(t, t.Name())
	g := newGauge(2)
	start(t, sdk.Settings{}, gauged(namespace, g, sdk.WithClock(clock)))
	boundary := workday.Add(time.Hour + time.Nanosecond)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Until: at(boundary)})
	awaitVerdict(t, s, true)
	settle(t, namespace)
	for i := range 50 {
		g.set(3+float64(i), nil)
		clock.Step(time.Minute)
		g.awaitSeen(t, 3+float64(i))
	}
	settle(t, namespace)
	if got := patchesOf(seen.untilNow(), namespace, "desk"); len(got) != 1 {
		t.Errorf("the first verdict and 50 answers brought %d writes:\n%s", len(got), strings.Join(got, "\n"))
	}

	// A failure is written once, however long it lasts, and holds the verdict.
	g.set(0, errors.New("connection refused"))
	clock.Step(time.Minute)
	awaitNotReady(t, s, sdk.ReasonNoAnswer)
	if !*s.Status.Active {
		t.Error("the verdict did not stand")
	}
	settle(t, namespace)
	if got := patchesOf(seen.untilNow(), namespace, "desk"); len(got) != 1 {
		t.Errorf("a failure brought %d writes:\n%s", len(got), strings.Join(got, "\n"))
	}
	g.set(0.5, nil)
	clock.Step(time.Minute)
	awaitVerdict(t, s, false)
}

func TestABoundaryIsKeptWhateverTheInterval(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	clock := newClock()
	g := newGauge(2)
	start(t, sdk.Settings{}, gauged(namespace, g, sdk.WithClock(clock)))
	boundary := workday.Add(10 * time.Second)
	s := create(t, namespace, "desk", v1alpha1.ManualScheduleSpec{Until: at(boundary)})
	awaitVerdict(t, s, true)
	clock.SetTime(boundary)
	awaitVerdict(t, s, false)
	if !s.Status.LastTransitionTime.Time.Equal(boundary) {
		t.Errorf("lastTransitionTime %v, want %v", s.Status.LastTransitionTime, boundary)
	}
}

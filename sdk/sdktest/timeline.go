// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/sdk"
	"github.com/fivespot/fivespot/sdk/internal/simulation"
)

// Timeline is a provider on a clock of its own, with a record of what it
// published. Its methods end the test when they cannot do what they are told.
type Timeline struct {
	t          testing.TB
	clock      *clocktesting.FakeClock
	zone       *time.Location
	simulation simulation.Simulation
	// shown is what was last shown of each schedule.
	shown map[string]lines
	// last is the instant of the last line.
	last string
	text strings.Builder
}

// maxStops bounds the stops of one AdvanceTo: some ten years of hours. A provider
// that has more to do goes round in circles, or the test takes too long for one.
var maxStops = 100_000

// NewTimeline returns a timeline that begins at the instant start, with nothing
// in it. It shows instants in the zone of start. A clock given to the provider by
// sdk.WithClock is not used.
func NewTimeline(t testing.TB, provider *sdk.Provider, start time.Time) *Timeline {
	t.Helper()
	clock := clocktesting.NewFakeClock(start)
	simulated, err := simulation.New(t.Context(), provider, clock)
	if err != nil {
		t.Fatalf("starting a timeline: %v", err)
	}
	return &Timeline{t: t, clock: clock, zone: start.Location(), simulation: simulated, shown: map[string]lines{}}
}

// Apply creates an object at the current instant, or edits the one of its name:
// a schedule of the provider, whose status stays as it is, or an object of a kind
// that the provider declared by sdk.WithReads. An object without a namespace is
// put into "default".
func (l *Timeline) Apply(object metav1.Object) {
	l.t.Helper()
	kind, err := l.simulation.Apply(object)
	if err != nil {
		l.t.Fatalf("applying an object: %v", err)
	}
	l.event("apply", kind, object)
}

// Delete deletes the object of that type and name at the current instant.
func (l *Timeline) Delete(object metav1.Object) {
	l.t.Helper()
	kind, err := l.simulation.Delete(object)
	if err != nil {
		l.t.Fatalf("deleting an object: %v", err)
	}
	l.event("delete", kind, object)
}

func (l *Timeline) event(verb, kind string, object metav1.Object) {
	l.t.Helper()
	l.show(verb + " " + kind + " " + object.GetName())
	l.settle()
}

// Get fills the object with its state at the current instant, by its type and
// name.
func (l *Timeline) Get(object metav1.Object) {
	l.t.Helper()
	if err := l.simulation.Get(object); err != nil {
		l.t.Fatalf("reading an object: %v", err)
	}
}

// AdvanceTo moves the clock to an instant, and stops on the way at each one at
// which the provider has something to do, as it would in production: at the
// sdk.Decision.Until of a decision, at a retry, at the time of a question. What is
// due at the instant itself is done.
func (l *Timeline) AdvanceTo(instant time.Time) {
	l.t.Helper()
	if instant.Before(l.clock.Now()) {
		l.t.Fatalf("the timeline is at %s already, which is after %s", l.clock.Now(), instant)
	}
	for range maxStops {
		next, ok := l.simulation.Next()
		if !ok || next.After(instant) {
			l.clock.SetTime(instant)
			return
		}
		if next.After(l.clock.Now()) {
			l.clock.SetTime(next)
		}
		l.settle()
	}
	l.t.Fatalf("before %s the provider has more to do than %d times; it is at %s", instant, maxStops, l.clock.Now())
}

func (l *Timeline) settle() {
	l.t.Helper()
	if err := l.simulation.Settle(); err != nil {
		l.t.Fatalf("at %s: %v", l.instant(l.clock.Now()), err)
	}
	l.showChanges()
}

// String returns the record so far, a line for each event: what the test did,
// what became of a schedule's verdict and its Ready condition, and, with a
// longer indent, of its other conditions and of status fields that are the
// provider's own. Evaluations that change nothing are not shown, as they are not
// written.
//
//	Mon 2026-06-15T06:50:00Z  apply ManualSchedule desk
//	                          desk: inactive until Mon 2026-06-15T08:00:00Z (Reconciled: manual toggle applied)
//	Mon 2026-06-15T08:00:00Z  desk: active (Reconciled: manual toggle applied)
func (l *Timeline) String() string { return l.text.String() }

// show adds a line. Lines of one instant show it once.
func (l *Timeline) show(line string) {
	now := l.instant(l.clock.Now())
	if now == l.last {
		now = strings.Repeat(" ", len(now))
	} else {
		l.last = now
	}
	fmt.Fprintf(&l.text, "%s  %s\n", now, line)
}

func (l *Timeline) instant(at time.Time) string {
	return at.In(l.zone).Format("Mon 2006-01-02T15:04:05.999999999Z07:00")
}

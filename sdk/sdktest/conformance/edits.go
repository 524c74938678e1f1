// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// editChecks look at what an edit of the spec brings about.
func editChecks() []Check {
	return []Check{
		{
			ID: "reacts-to-edits", Rule: "C11", Level: Recommended,
			Title:  "An edit is followed at once",
			Advice: "Watch the kind, and evaluate an object when its event comes. Do not list it every so often.",
			needs:  []string{idFollows}, uses: []given{givenOff},
			run: byEdit(reactsToEdits),
		},
		{
			ID: "observed-generation", Rule: "C8", Level: Recommended,
			Title:  "status.observedGeneration follows metadata.generation",
			Advice: "Publish the metadata.generation of the object that was evaluated, with each status.",
			needs:  []string{idFollows}, uses: []given{givenOff},
			run: byEdit(observesGeneration),
		},
		{
			ID: idMoves, Rule: "C9", Level: Recommended,
			Title:  "status.lastTransitionTime is an RFC 3339 time and moves on a flip",
			Advice: "Set it to the present time whenever the published status.active changes.",
			needs:  []string{idFollows}, uses: []given{givenOff},
			run: transitionTimeMoves,
		},
		{
			ID: "transition-time-stays", Rule: "C9", Level: Recommended,
			Title:  "status.lastTransitionTime stays while status.active does",
			Advice: "Compare with the published status.active, and keep the published time when it is the same.",
			needs:  []string{idFollows, idRecovers, idMoves}, uses: []given{givenOff},
			run: transitionTimeStays,
		},
	}
}

// byEdit runs a check where going from one sample to the other is an edit of the
// object, and not of what it refers to alone.
func byEdit(run func(context.Context, *env) (finding, error)) func(context.Context, *env) (finding, error) {
	return func(ctx context.Context, e *env) (finding, error) {
		if reflect.DeepEqual(e.samples.on.spec(), e.samples.off.spec()) {
			return skip("the active and the inactive sample have the same spec, so that none of the two is an edit: " +
				"let them refer to two objects by two names (Options.On, Options.Off)")
		}
		return run(ctx, e)
	}
}

func followsEdits(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "follows")
	if err != nil {
		return finding{}, err
	}
	for _, on := range []bool{false, true} {
		if err := e.flip(ctx, made, on); err != nil {
			return finding{}, err
		}
	}
	return pass("")
}

// flip gives an object the other sample and waits until its verdict is that.
func (e *env) flip(ctx context.Context, made *subject, on bool) error {
	if err := made.set(ctx, e.sampleFor(on)); err != nil {
		return err
	}
	_, err := made.awaitActive(ctx, on)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("the spec was edited to be active=%t: %w", on, err)
	}
	return err
}

// edits is how often the reaction is measured. Each edit comes right after the
// reaction to the one before, when a provider that polls has just looked.
const edits = 4

func reactsToEdits(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "reacts")
	if err != nil {
		return finding{}, err
	}
	var slowest time.Duration
	for i := range edits {
		begin, on := e.clock.Now(), i%2 == 1
		if err := made.set(ctx, e.sampleFor(on)); err != nil {
			return finding{}, err
		}
		seen, err := made.awaitActive(ctx, on)
		if err != nil {
			return finding{}, err
		}
		slowest = max(slowest, seen.at.Sub(begin))
	}
	return inTime(slowest, e.options.ReactWithin)
}

// inTime judges the slowest reaction.
func inTime(slowest, bound time.Duration) (finding, error) {
	if slowest > bound {
		return fail("the slowest of %d edits was followed after %s; the bound is %s", edits, slowest.Round(100*time.Millisecond), bound)
	}
	return pass("")
}

func (e *env) sampleFor(on bool) *sample {
	if on {
		return e.samples.on
	}
	return e.samples.off
}

func observesGeneration(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "generation")
	if err != nil {
		return finding{}, err
	}
	if err := e.flip(ctx, made, false); err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, generationObserved); err != nil {
		return finding{}, err
	}
	return pass("")
}

func generationObserved(object *unstructured.Unstructured) error {
	observed, is := statusField(object, "observedGeneration").(int64)
	switch {
	case !is:
		return fmt.Errorf("status.observedGeneration is %s", jsonKind(statusField(object, "observedGeneration")))
	case observed != object.GetGeneration():
		return fmt.Errorf("status.observedGeneration is %d and metadata.generation is %d", observed, object.GetGeneration())
	}
	return nil
}

// tick is longer than the second in which Kubernetes writes times: two instants
// with a tick between them are two different times.
const tick = 1100 * time.Millisecond

// pause waits by the kit's clock.
func (e *env) pause(ctx context.Context, d time.Duration) error {
	timer := e.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func transitionTimeMoves(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "time-moves")
	if err != nil {
		return finding{}, err
	}
	if err := e.pause(ctx, tick); err != nil {
		return finding{}, err
	}
	if err := e.flip(ctx, made, false); err != nil {
		return finding{}, err
	}
	return answer(unmoved(made.history()))
}

// unmoved says at which flip the time did not move forward.
func unmoved(states []state) string {
	wrong := "no flip was seen"
	for _, pair := range published(states) {
		if pair.before.active == pair.after.active {
			continue
		}
		before, err := timestamp(pair.before.moved)
		if err != nil {
			return "it " + err.Error()
		}
		after, err := timestamp(pair.after.moved)
		switch {
		case err != nil:
			return "it " + err.Error()
		case !after.After(before):
			return fmt.Sprintf("status.active became %v and the time did not move forward: it was %v and is %v",
				pair.after.active, pair.before.moved, pair.after.moved)
		}
		wrong = ""
	}
	return wrong
}

// publication is what a status says of the verdict and its time.
type publication struct{ active, moved any }

type change struct{ before, after publication }

// published returns the changes between the states that have a verdict, as the
// fields are stored. A time that comes later than its verdict is no change of it.
func published(states []state) []change {
	var changes []change
	var before *publication
	for _, each := range states {
		now := publication{statusField(each.Unstructured, "active"), statusField(each.Unstructured, "lastTransitionTime")}
		if now.active == nil {
			continue
		}
		if before != nil && (before.moved != nil || before.active != now.active) {
			changes = append(changes, change{*before, now})
		}
		before = &now
	}
	return changes
}

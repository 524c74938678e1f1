// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
)

// verdictChecks look at whether there is a verdict, and the right one.
func verdictChecks() []Check {
	return []Check{
		{
			ID: idAppears, Rule: "C4", Level: Required,
			Title:  "A new object gets a status.active",
			Advice: "See that the provider runs, watches the kind in every namespace and may patch its /status; its log should say what it lacks.",
			needs:  []string{idGroup, idEstablished, idNamespaced, idSubresource, idNoDefault},
			run:    statusAppears,
		},
		{
			ID: idBoolean, Rule: "C4", Level: Required,
			Title:  "status.active is a JSON boolean",
			Advice: `Publish true or false, not "true" or 1.`,
			needs:  []string{idAppears},
			run:    activeIsBoolean,
		},
		{
			ID: idActive, Rule: "C4", Level: Required,
			Title:  "A reader takes the active sample as active",
			Advice: "See that status.active says what the spec asks for, that Ready is True once it does, and that the sample is active now.",
			needs:  []string{idBoolean},
			run: func(ctx context.Context, e *env) (finding, error) {
				return e.readsAs(ctx, "active", e.samples.on, contract.Active)
			},
		},
		{
			ID: idInactive, Rule: "C4", Level: Required,
			Title:  "A reader takes the inactive sample as inactive",
			Advice: "See that status.active says what the spec asks for, that Ready is True once it does, and that the sample is inactive now.",
			needs:  []string{idBoolean}, uses: []given{givenOff},
			run: func(ctx context.Context, e *env) (finding, error) {
				return e.readsAs(ctx, "inactive", e.samples.off, contract.Inactive)
			},
		},
		{
			ID: idFollows, Rule: "C4", Level: Required,
			Title:  "status.active follows an edit of the spec, both ways",
			Advice: "Evaluate an object when it is edited, not only when it appears.",
			needs:  []string{idActive, idInactive}, uses: []given{givenOff},
			run: byEdit(followsEdits),
		},
	}
}

// formChecks look at what goes with a verdict.
func formChecks() []Check {
	return []Check{
		{
			ID: "versions-agree", Rule: "C15", Level: Required,
			Title:  "Every served version gives the same verdict",
			Advice: "Keep status.active and status.conditions as they are when converting, and declare them alike in every version.",
			needs:  []string{idActive, idInactive}, uses: []given{givenOff},
			run: versionsAgree,
		},
		{
			ID: "ready-condition", Rule: "C7", Level: Recommended,
			Title:  "There is one well-formed Ready condition",
			Advice: "Publish one condition with type Ready, status True, False or Unknown, a reason in CamelCase, a message, and the RFC 3339 time of its last change.",
			needs:  []string{idActive},
			run:    readyIsWellFormed,
		},
		{
			ID: "next-transition-time", Rule: "C10", Level: Recommended,
			Title:  "status.nextTransitionTime, if present, is an RFC 3339 time",
			Advice: "Publish the time as 2026-01-02T15:04:05Z, or leave the field out.",
			needs:  []string{idActive},
			run:    nextTransitionIsATime,
		},
	}
}

// createIn makes an object from a sample in the namespace that the checks share.
func (e *env) createIn(ctx context.Context, part string, from *sample) (*subject, error) {
	home, err := e.home(ctx)
	if err != nil {
		return nil, err
	}
	return home.create(ctx, part, from)
}

// createActive makes an object of the active sample and waits until a reader takes
// it as active.
func (e *env) createActive(ctx context.Context, part string) (*subject, error) {
	return e.createDecided(ctx, part, true)
}

// createDecided makes an object of the sample with the verdict and waits until a
// reader comes to that.
func (e *env) createDecided(ctx context.Context, part string, on bool) (*subject, error) {
	begin := e.clock.Now()
	made, err := e.createIn(ctx, part, e.sampleFor(on))
	if err != nil {
		return nil, err
	}
	want := contract.Inactive
	if on {
		want = contract.Active
	}
	seen, err := made.await(ctx, readAs(want))
	if err != nil {
		return nil, err
	}
	e.slowest = max(e.slowest, seen.at.Sub(begin))
	return made, nil
}

func statusAppears(ctx context.Context, e *env) (finding, error) {
	made, err := e.createIn(ctx, "appears", e.samples.on)
	if err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, hasActive); err != nil {
		return finding{}, err
	}
	return pass("")
}

func activeIsBoolean(ctx context.Context, e *env) (finding, error) {
	made, err := e.createIn(ctx, "boolean", e.samples.on)
	if err != nil {
		return finding{}, err
	}
	seen, err := made.await(ctx, hasActive)
	if err != nil {
		return finding{}, err
	}
	active := statusField(seen.Unstructured, "active")
	if _, is := active.(bool); !is {
		return fail("it is %s", jsonKind(active))
	}
	return pass("")
}

// readsAs waits until a reader comes to the state for a new object.
func (e *env) readsAs(ctx context.Context, part string, from *sample, want contract.State) (finding, error) {
	made, err := e.createIn(ctx, part, from)
	if err != nil {
		return finding{}, err
	}
	_, err = made.await(ctx, readAs(want))
	if err != nil {
		return finding{}, err
	}
	return pass("")
}

// versionsAgree looks at either verdict: what a conversion drops is often only the
// one that is not the zero value.
func versionsAgree(ctx context.Context, e *env) (finding, error) {
	if len(e.versions()) == 1 {
		return pass("one version is served")
	}
	made, err := e.createActive(ctx, "versions")
	if err != nil {
		return finding{}, err
	}
	wrong, err := made.atEachVersion(ctx, contract.Active)
	if wrong != "" || err != nil {
		return finding{Failed, wrong}, err
	}
	if err := made.set(ctx, e.samples.off); err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, readAs(contract.Inactive)); err != nil {
		return finding{}, err
	}
	wrong, err = made.atEachVersion(ctx, contract.Inactive)
	if wrong != "" || err != nil {
		return finding{Failed, wrong}, err
	}
	return pass("%d versions", len(e.versions()))
}

// atEachVersion says at which versions a reader does not come to the state.
func (s *subject) atEachVersion(ctx context.Context, want contract.State) (wrong string, err error) {
	e := s.space.env
	var all []string
	for _, version := range e.versions() {
		object := s.reference()
		object.SetGroupVersionKind(e.kind().GroupKind().WithVersion(version))
		if err := e.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return "", fmt.Errorf("reading the object at %s: %w", version, err)
		}
		if err := readsAs(object, want); err != nil {
			all = append(all, fmt.Sprintf("at %s %v", version, err))
		}
	}
	if len(all) > 0 {
		wrong = fmt.Sprintf("the object is %s, and %s", strings.ToLower(want.String()), strings.Join(all, "; "))
	}
	return wrong, nil
}

func readyIsWellFormed(ctx context.Context, e *env) (finding, error) {
	made, err := e.createIn(ctx, "ready", e.samples.on)
	if err != nil {
		return finding{}, err
	}
	_, err = made.await(ctx, wellFormedReady)
	if err != nil {
		return finding{}, err
	}
	return pass("")
}

func nextTransitionIsATime(ctx context.Context, e *env) (finding, error) {
	if _, err := e.createActive(ctx, "next"); err != nil {
		return finding{}, err
	}
	if e.samples.off != nil {
		made, err := e.createIn(ctx, "next-inactive", e.samples.off)
		if err != nil {
			return finding{}, err
		}
		if _, err := made.await(ctx, hasActive); err != nil {
			return finding{}, err
		}
	}
	return timesOf("nextTransitionTime", e.states())
}

// timesOf judges a time that a status may have; by none of them nothing is shown.
func timesOf(field string, states []state) (finding, error) {
	count := 0
	for _, each := range states {
		value := statusField(each.Unstructured, field)
		if value == nil {
			continue
		}
		if _, err := timestamp(value); err != nil {
			return fail("it %v", err)
		}
		count++
	}
	if count == 0 {
		return skip("no status had one; if the provider publishes it, give a sample whose verdict changes at a known time, " +
			"by --apply or --apply-off (Options.On, Options.Off)")
	}
	return pass("")
}

// states returns every state that was seen of the objects of this run.
func (e *env) states() []state {
	var all []state
	for _, s := range e.spaces {
		for _, made := range s.subjects {
			all = append(all, made.history()...)
		}
	}
	return all
}

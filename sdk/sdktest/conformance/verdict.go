// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
			needs:  []string{idGroup, idEstablished, idNamespaced, idSubresource},
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
			run: followsEdits,
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
			needs:  []string{idActive},
			run:    versionsAgree,
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

// createActive makes an object of the active sample and waits for its verdict.
func (e *env) createActive(ctx context.Context, part string) (*subject, error) {
	made, err := e.createIn(ctx, part, e.samples.on)
	if err != nil {
		return nil, err
	}
	_, err = made.awaitActive(ctx, true)
	return made, err
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
	_, err = made.await(ctx, func(object *unstructured.Unstructured) error { return readsAs(object, want) })
	if err != nil {
		return finding{}, err
	}
	return pass("")
}

func versionsAgree(ctx context.Context, e *env) (finding, error) {
	versions := e.versions()
	if len(versions) == 1 {
		return pass("one version is served")
	}
	made, err := e.createActive(ctx, "versions")
	if err != nil {
		return finding{}, err
	}
	var wrong []string
	for _, version := range versions {
		object := made.reference()
		object.SetGroupVersionKind(e.kind().GroupKind().WithVersion(version))
		if err := e.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return finding{}, fmt.Errorf("reading the object at %s: %w", version, err)
		}
		if err := readsAs(object, contract.Active); err != nil {
			wrong = append(wrong, fmt.Sprintf("at %s %v", version, err))
		}
	}
	if len(wrong) > 0 {
		return fail("the object is active, and %s", strings.Join(wrong, "; "))
	}
	return pass("")
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
	made, err := e.createActive(ctx, "next")
	if err != nil {
		return finding{}, err
	}
	for _, each := range made.history() {
		next := statusField(each.Unstructured, "nextTransitionTime")
		if next == nil {
			continue
		}
		if _, err := timestamp(next); err != nil {
			return fail("it %v", err)
		}
	}
	return pass("")
}

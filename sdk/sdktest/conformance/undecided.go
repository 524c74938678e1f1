// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// undecidedChecks look at a spec that the provider can make nothing of.
func undecidedChecks() []Check {
	return []Check{
		{
			ID: idInvalid, Rule: "C6", Level: Required,
			Title:  "A spec that cannot be decided makes Ready not True and keeps status.active",
			Advice: "Set Ready to False with the reason, and leave status.active as it was. Or refuse such a spec by the CRD's schema.",
			needs:  []string{idActive, idFollows}, uses: []given{givenInvalid},
			run: invalidKeepsVerdict,
		},
		{
			ID: idRecovers, Rule: "C6", Level: Required,
			Title:  "A spec that was corrected is decided again",
			Advice: "Evaluate an object at each edit, whatever came of it before, and set Ready to True when there is a verdict.",
			needs:  []string{idInvalid}, uses: []given{givenInvalid},
			run: invalidRecovers,
		},
		{
			ID: "undecided-no-verdict", Rule: "C5", Level: Required,
			Title:  "A new object that cannot be decided gets no status.active",
			Advice: "Leave status.active out until there is a verdict: neither true nor false is a safe guess.",
			needs:  []string{idBoolean}, uses: []given{givenInvalid},
			run: undecidedHasNoVerdict,
		},
	}
}

// refusedText is what to say where the API server keeps invalid specs away.
const refusedText = "the API server refuses the sample, so the provider never sees such a spec"

func invalidKeepsVerdict(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "invalid")
	if err != nil {
		return finding{}, err
	}
	err = made.set(ctx, e.samples.invalid)
	if isRefused(err) {
		return pass(refusedText)
	}
	if err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, notReady); err != nil {
		return finding{}, err
	}
	return answer(lostVerdict(made.history()))
}

// lostVerdict says where an object that was active no longer was.
func lostVerdict(states []state) string {
	known := false
	for _, each := range states {
		err := activeIs(each.Unstructured, true)
		if err != nil && known {
			return "Ready is not True, and " + err.Error()
		}
		known = known || err == nil
	}
	return ""
}

func invalidRecovers(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "recovers")
	if err != nil {
		return finding{}, err
	}
	err = made.set(ctx, e.samples.invalid)
	if isRefused(err) {
		return pass(refusedText)
	}
	if err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, notReady); err != nil {
		return finding{}, err
	}
	if err := made.set(ctx, e.samples.on); err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, trusted); err != nil {
		return finding{}, fmt.Errorf("the spec was corrected: %w", err)
	}
	return pass("")
}

// trusted returns nil when a reader may trust the verdict.
func trusted(object *unstructured.Unstructured) error {
	if notReady(object) == nil {
		return errors.New("the Ready condition is still not True")
	}
	return activeIs(object, true)
}

func undecidedHasNoVerdict(ctx context.Context, e *env) (finding, error) {
	made, err := e.createIn(ctx, "undecided", e.samples.invalid)
	if isRefused(err) {
		return pass(refusedText)
	}
	if err != nil {
		return finding{}, err
	}
	_, err = made.await(ctx, func(object *unstructured.Unstructured) error {
		if hasActive(object) == nil {
			return nil
		}
		return notReady(object)
	})
	// That Ready is not True is another check's matter.
	if missing := (*missingError)(nil); err != nil && !errors.As(err, &missing) {
		return finding{}, err
	}
	for _, each := range made.history() {
		if active := statusField(each.Unstructured, "active"); active != nil {
			return fail("status.active is %s", jsonKind(active))
		}
	}
	return pass("")
}

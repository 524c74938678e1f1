// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/contract"
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
			needs:  []string{idInvalid}, uses: []given{givenOff, givenInvalid},
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

// invalidKeepsVerdict looks at either verdict, as far as there is a sample: a guess
// is one of them, and would pass for what was kept.
func invalidKeepsVerdict(ctx context.Context, e *env) (finding, error) {
	found, err := e.keptThroughInvalid(ctx, true)
	if err != nil || found.outcome != Passed || e.samples.off == nil {
		return found, err
	}
	return e.keptThroughInvalid(ctx, false)
}

// keptThroughInvalid has an object with a verdict go to the invalid sample.
func (e *env) keptThroughInvalid(ctx context.Context, on bool) (finding, error) {
	made, err := e.createDecided(ctx, fmt.Sprintf("invalid-%t", on), on)
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
	// What is taken back a moment later was not kept.
	if err := e.pause(ctx, e.moment()); err != nil {
		return finding{}, err
	}
	return answer(lostVerdict(made.history(), on))
}

// lostVerdict says where an object that had the verdict no longer had it.
func lostVerdict(states []state, verdict bool) string {
	known := false
	for _, each := range states {
		err := activeIs(each.Unstructured, verdict)
		if err != nil && known {
			return fmt.Sprintf("status.active was %t, and then the spec could not be decided about: %v", verdict, err)
		}
		known = known || err == nil
	}
	return ""
}

// invalidRecovers corrects the spec to the verdict that the object did not have: so
// the one that it kept does not pass for a decision.
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
	if err := made.set(ctx, e.samples.off); err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, readAs(contract.Inactive)); err != nil {
		return finding{}, fmt.Errorf("the spec was corrected: %w", err)
	}
	return pass("")
}

func undecidedHasNoVerdict(ctx context.Context, e *env) (finding, error) {
	made, err := e.createIn(ctx, "undecided", e.samples.invalid)
	if isRefused(err) {
		return pass(refusedText)
	}
	if err != nil {
		return finding{}, err
	}
	_, silent := made.await(ctx, func(object *unstructured.Unstructured) error {
		if hasActive(object) == nil {
			return nil
		}
		return notReady(object)
	})
	if isOther(silent) {
		return finding{}, silent
	}
	if err := e.pause(ctx, e.moment()); err != nil {
		return finding{}, err
	}
	return noVerdict(made.history(), silent)
}

// noVerdict judges the states of an object that cannot be decided. That Ready is
// not True is another check's matter; where it is silent about that, nothing shows
// that the provider looked at the object.
func noVerdict(states []state, silent error) (finding, error) {
	for _, each := range states {
		if active := statusField(each.Unstructured, "active"); active != nil {
			return fail("status.active is %s", jsonKind(active))
		}
	}
	if silent != nil {
		return skip("nothing shows that the provider looked at the object; let it set Ready to False where it cannot decide: %v", silent)
	}
	return pass("")
}

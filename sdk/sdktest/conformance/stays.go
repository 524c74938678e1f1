// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/fivespot/fivespot/api/contract"
)

// transitionTimeStays has the provider write the status while the verdict stays,
// in each way that there is: what it never writes says nothing about the time.
func transitionTimeStays(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "time-stays")
	if err != nil {
		return finding{}, err
	}
	if err := e.pause(ctx, tick); err != nil {
		return finding{}, err
	}
	settled := len(made.history())
	for _, provoke := range []func(context.Context, *subject) error{e.touched, e.disturbed, e.upset} {
		if err := provoke(ctx, made); err != nil {
			return finding{}, err
		}
	}
	if err := e.pause(ctx, tick); err != nil {
		return finding{}, err
	}
	if err := e.flip(ctx, made, false); err != nil {
		return finding{}, err
	}
	return stayed(made.history(), settled, made.own)
}

// stayed judges the states of an object, of which so many were there before the
// provider was to write, by the writes from then on that are not the kit's own.
func stayed(states []state, settled int, own map[string]bool) (finding, error) {
	if wrong := moved(states); wrong != "" {
		return fail("%s", wrong)
	}
	for i := max(settled, 1); i < len(states); i++ {
		if keepsVerdict(states[i-1], states[i]) && !own[states[i].GetResourceVersion()] {
			return pass("")
		}
	}
	return skip("the provider wrote no status while the verdict stayed, so there was nothing to see: " +
		"give a manifest that the provider cannot decide about and the API server accepts, by --apply-invalid (Options.Invalid)")
}

// keepsVerdict reports whether the status changed and its verdict did not.
func keepsVerdict(before, after state) bool {
	active := statusField(after.Unstructured, "active")
	return active != nil && reflect.DeepEqual(active, statusField(before.Unstructured, "active")) &&
		!reflect.DeepEqual(before.Object["status"], after.Object["status"])
}

// touched edits an annotation of an object and waits for what comes of it.
func (e *env) touched(ctx context.Context, made *subject) error {
	if err := made.touch(ctx, "time"); err != nil {
		return err
	}
	return e.answered(ctx, made)
}

// disturbed writes into the status of an object, as another writer, what is out of
// date, and waits for the provider to put it right. No provider has to.
func (e *env) disturbed(ctx context.Context, made *subject) error {
	_, err := made.editStatus(ctx, func(status map[string]any) {
		if observed, is := status["observedGeneration"].(int64); is {
			status["observedGeneration"] = observed - 1
		}
		conditions, _ := status["conditions"].([]any)
		for _, item := range conditions {
			if entry, is := item.(map[string]any); is && entry["type"] == contract.ConditionReady {
				entry["message"] = "out of date, as the conformance kit has it"
			}
		}
	})
	switch {
	case isRefused(err):
		return nil
	case err != nil:
		return fmt.Errorf("writing a status that is out of date: %w", err)
	}
	return e.answered(ctx, made)
}

// upset has an object go through the invalid sample and back to the active one.
func (e *env) upset(ctx context.Context, made *subject) error {
	if e.samples.invalid == nil {
		return nil
	}
	err := made.set(ctx, e.samples.invalid)
	if isRefused(err) {
		return nil
	}
	if err != nil {
		return err
	}
	// Whether it comes is another check's matter.
	if _, err := made.await(ctx, notReady); isOther(err) {
		return err
	}
	if err := e.pause(ctx, tick); err != nil {
		return err
	}
	if err := made.set(ctx, e.samples.on); err != nil {
		return err
	}
	if _, err := made.await(ctx, readAs(contract.Active)); isOther(err) {
		return err
	}
	return nil
}

// isOther reports whether an error is another than that something did not come.
func isOther(err error) bool {
	missing := (*missingError)(nil)
	return err != nil && !errors.As(err, &missing)
}

// answered waits for a write of the provider after the kit's last one, for as long
// as a provider takes that writes at all.
func (e *env) answered(ctx context.Context, made *subject) error {
	_, err := e.within(ctx, made.space.seen, e.moment(), func() bool {
		last := made.space.seen.last(made.name)
		return last != nil && !made.own[last.GetResourceVersion()]
	})
	return err
}

// moved says where the time changed though active did not.
func moved(states []state) string {
	for _, pair := range published(states) {
		if pair.before.active == pair.after.active && pair.before.moved != pair.after.moved {
			return fmt.Sprintf("status.active stayed %v and the time went from %v to %v",
				pair.after.active, pair.before.moved, pair.after.moved)
		}
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// objectChecks look at objects beside each other and after each other.
func objectChecks() []Check {
	return []Check{
		{
			ID: "recreated-object", Rule: "C30", Level: Required,
			Title:  "An object that is deleted and made again is decided anew",
			Advice: "Forget what is kept of an object when it goes, and go by what the object says, not by what is remembered under its name.",
			needs:  []string{idActive, idInactive}, uses: []given{givenOff},
			run: recreatedIsNew,
		},
		{
			ID: "other-namespaces", Rule: "C30", Level: Required,
			Title:  "Objects of one name in two namespaces each have their own verdict",
			Advice: "Watch every namespace, and keep objects apart by namespace and name.",
			needs:  []string{idActive, idInactive}, uses: []given{givenOff},
			run: namespacesAreApart,
		},
		{
			ID: idMany, Rule: "C30", Level: Required,
			Title:  "Many objects at once each get their verdict",
			Advice: "Follow `continue` where a list is paged, do not slow the client down below what it needs, and do not let one object wait for another.",
			needs:  []string{idActive, idInactive}, uses: []given{givenOff},
			run: manyAreDecided,
		},
		{
			ID: "others-status-kept", Rule: "C31", Level: Recommended,
			Title:  "What others wrote into the status stays",
			Advice: "Patch the fields that are yours. The list of conditions is replaced as a whole by a merge patch: put those of other types back into it, and guard it by metadata.resourceVersion.",
			needs:  []string{idFollows}, uses: []given{givenOff},
			run: othersStatusIsKept,
		},
	}
}

func recreatedIsNew(ctx context.Context, e *env) (finding, error) {
	old, err := e.createActive(ctx, "recreated")
	if err != nil {
		return finding{}, err
	}
	if err := old.remove(ctx); err != nil {
		return finding{}, err
	}
	made, err := e.createIn(ctx, "recreated", e.samples.off)
	if err != nil {
		return finding{}, err
	}
	if _, err := made.awaitActive(ctx, false); err != nil {
		return finding{}, fmt.Errorf("an active object was deleted and made again, inactive: %w", err)
	}
	return pass("")
}

func namespacesAreApart(ctx context.Context, e *env) (finding, error) {
	if e.options.Namespace != "" {
		return skip("it takes a second namespace: leave out --namespace (Options.Namespace)")
	}
	first, err := e.createIn(ctx, "twin", e.samples.on)
	if err != nil {
		return finding{}, err
	}
	away, err := e.openSpace(ctx)
	if err != nil {
		return finding{}, err
	}
	second, err := away.create(ctx, "twin", e.samples.off)
	if err != nil {
		return finding{}, err
	}
	for twin, on := range map[*subject]bool{first: true, second: false} {
		if _, err := twin.awaitActive(ctx, on); err != nil {
			return finding{}, fmt.Errorf("two objects of one name, of which one is to be active=%t: %w", on, err)
		}
	}
	return pass("")
}

// atOnce is how many requests to make at the same time. Fewer objects than that are
// not many.
const atOnce = 20

func manyAreDecided(ctx context.Context, e *env) (finding, error) {
	if e.options.Objects < atOnce {
		return skip("%d objects are few: give %d or more, by --objects (Options.Objects)", e.options.Objects, atOnce)
	}
	home, err := e.home(ctx)
	if err != nil {
		return finding{}, err
	}
	crowd := make([]*subject, e.options.Objects)
	group, making := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range crowd {
		group.Go(func() (err error) {
			crowd[i], err = home.create(making, fmt.Sprintf("many-%d", i), e.sampleFor(e.isOn(i)))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return finding{}, err
	}
	return e.awaitCrowd(ctx, home, crowd)
}

// isOn says which objects of a crowd are to be active: every second one, or all
// where the samples cannot be there at the same time.
func (e *env) isOn(i int) bool {
	return i%2 == 0 || e.samples.on.disagrees(e.samples.off)
}

// awaitCrowd waits until every object of a crowd is as isOn says.
func (e *env) awaitCrowd(ctx context.Context, home *space, crowd []*subject) (finding, error) {
	waiting := map[int]bool{}
	for i := range crowd {
		waiting[i] = true
	}
	err := e.until(ctx, home.seen, func() error {
		for i := range waiting {
			now := home.seen.last(crowd[i].name)
			if now != nil && activeIs(now.Unstructured, e.isOn(i)) == nil {
				delete(waiting, i)
			}
		}
		if len(waiting) > 0 {
			return fmt.Errorf("%d of %d objects lack their verdict", len(waiting), len(crowd))
		}
		return nil
	})
	if err != nil {
		return finding{}, err
	}
	return pass("%d objects", len(crowd))
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/contract"
)

// quietChecks look for writes that nothing calls for.
func quietChecks() []Check {
	const rule = "C12"
	return []Check{
		{
			ID: "touch-quiet", Rule: rule, Level: Recommended,
			Title:  "An edit that changes nothing for the provider causes no write",
			Advice: "Compare the status to write with the one that is there, and write only where they differ. Take the times in it from there where nothing changed.",
			needs:  []string{idActive, idMany},
			run:    quietAfterTouch,
		},
		{
			ID: idIdle, Rule: rule, Level: Recommended,
			Title:  "While nobody edits, nothing is written",
			Advice: "Write a status only when it changed, keep heartbeats and counters out of it, and see that the provider's own write does not set it off again.",
			needs:  []string{idActive, idMany},
			run:    quietWhenIdle,
		},
		{
			ID: "idle-no-polling", Rule: "C11", Level: Recommended,
			Title:  "While nobody edits, the provider does not ask the API server about the kind",
			Advice: "Watch the kind instead of listing or getting its objects every so often, and do not patch what is as it should be. If the requests are not the provider's, see who else asks for the kind.",
			needs:  []string{idIdle},
			run:    doesNotPoll,
		},
		{
			ID: "restart-quiet", Rule: rule, Level: Recommended,
			Title:  "A restart of the provider causes no write",
			Advice: "Decide by what is published, not by what the process remembers: a new process finds every status as it should be.",
			needs:  []string{idActive, idMany}, uses: []given{givenRestart},
			run: quietAfterRestart,
		},
	}
}

// mark remembers how much was seen of each object.
type mark map[string]int

func (s *space) mark() mark {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	marks := mark{}
	for name, states := range s.seen.states {
		marks[name] = len(states)
	}
	return marks
}

// writesSince returns what was written since the mark and has no good reason, in
// words. A flip has one: time goes on, and the provider with it.
func (s *space) writesSince(marks mark) string {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	count, example := 0, ""
	for _, name := range slices.Sorted(maps.Keys(s.seen.states)) {
		states := s.seen.states[name]
		for i := max(marks[name], 1); i < len(states); i++ {
			if excused(states[i-1], states[i]) {
				continue
			}
			count++
			if example == "" {
				example = strings.Join(changes("", states[i-1].Object, states[i].Object), ", ")
			}
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d writes, the first of which changed %s", count, example)
}

// excused reports whether a change is no needless write.
func excused(before, after state) bool {
	return after.gone || before.GetUID() != after.GetUID() ||
		!reflect.DeepEqual(statusField(before.Unstructured, "active"), statusField(after.Unstructured, "active"))
}

// changes lists the fields in which two objects differ, but for those that the
// API server itself changes with each write.
func changes(path string, before, after map[string]any) []string {
	var all []string
	keys := map[string]bool{}
	for key := range before {
		keys[key] = true
	}
	for key := range after {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		where := strings.TrimPrefix(path+"."+key, ".")
		if where == "metadata.resourceVersion" || where == "metadata.managedFields" || reflect.DeepEqual(before[key], after[key]) {
			continue
		}
		old, isOld := before[key].(map[string]any)
		now, isNow := after[key].(map[string]any)
		if isOld && isNow {
			all = append(all, changes(where, old, now)...)
		} else {
			all = append(all, where)
		}
	}
	return all
}

// settleTries bounds how often to wait for calm.
const settleTries = 20

// settle returns once nothing was seen in the namespace for a while. Where there
// is no end of it, it returns all the same: that is a finding of what follows.
func (e *env) settle(ctx context.Context, s *space) error {
	for range settleTries {
		if calm, err := s.calm(ctx, e.moment()); calm || err != nil {
			return err
		}
	}
	return nil
}

// moment is how long to wait for what a provider would do at once: twice as long
// as it ever took for a new object, as its silence says nothing before that.
func (e *env) moment() time.Duration { return min(max(2*e.slowest, time.Second), e.options.Patience) }

// calm reports whether nothing is seen for so long. It returns early when
// something is.
func (s *space) calm(ctx context.Context, d time.Duration) (bool, error) {
	marks := s.mark()
	seen, err := s.env.within(ctx, s.seen, d, func() bool {
		for name, states := range s.seen.states {
			if len(states) != marks[name] {
				return true
			}
		}
		return false
	})
	return err == nil && !seen, err
}

// within reports whether check, which is called with the lock of the record held,
// returns true within a time. It returns as soon as it does.
func (e *env) within(ctx context.Context, seen *recorder, d time.Duration, check func() bool) (bool, error) {
	timer := e.clock.NewTimer(d)
	defer timer.Stop()
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-timer.C():
			stop(errPatience)
		case <-waiting.Done():
		}
	}()
	err := seen.until(waiting, check)
	if errors.Is(err, errPatience) {
		return false, nil
	}
	return err == nil, err
}

func quietAfterTouch(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "touched")
	if err != nil {
		return finding{}, err
	}
	home := made.space
	if err := e.settle(ctx, home); err != nil {
		return finding{}, err
	}
	if err := made.touch(ctx, "quiet"); err != nil {
		return finding{}, err
	}
	if _, err := made.await(ctx, func(object *unstructured.Unstructured) error {
		if object.GetAnnotations()[touchAnnotation] != "quiet" {
			return errors.New("the edit is not there")
		}
		return nil
	}); err != nil {
		return finding{}, err
	}
	marks := home.mark()
	if err := e.pause(ctx, e.moment()); err != nil {
		return finding{}, err
	}
	return answer(home.writesSince(marks))
}

func quietWhenIdle(ctx context.Context, e *env) (finding, error) {
	idle := &e.idle
	idle.first = idle.read(ctx, e)
	made, err := e.createActive(ctx, "idle")
	if err != nil {
		return finding{}, err
	}
	home := made.space
	if err := e.settle(ctx, home); err != nil {
		return finding{}, err
	}
	marks := home.mark()
	idle.before = idle.read(ctx, e)
	idle.watched = max(e.options.IdleFor, e.moment())
	if err := e.pause(ctx, idle.watched); err != nil {
		return finding{}, err
	}
	idle.after = idle.read(ctx, e)
	if writes := home.writesSince(marks); writes != "" {
		return fail("within %s: %s", idle.watched, writes)
	}
	return pass("%d objects for %s", len(marks), idle.watched)
}

func quietAfterRestart(ctx context.Context, e *env) (finding, error) {
	var during restartRequests
	during.first = during.read(ctx, e)
	made, err := e.createActive(ctx, "restarted")
	if err != nil {
		return finding{}, err
	}
	home := made.space
	if err := e.settle(ctx, home); err != nil {
		return finding{}, err
	}
	marks := home.mark()
	during.before = during.read(ctx, e)
	if err := e.options.Restart(ctx); err != nil {
		return skip("the provider could not be restarted: %v", err)
	}
	// A new object shows when the new process is at work.
	sentinel, err := e.createIn(ctx, "after-restart", e.samples.on)
	if err != nil {
		return finding{}, err
	}
	if _, err := sentinel.await(ctx, readAs(contract.Active)); err != nil {
		return finding{}, fmt.Errorf("after the restart, for a new object: %w", err)
	}
	if err := e.settle(ctx, home); err != nil {
		return finding{}, err
	}
	during.after = during.read(ctx, e)
	marks[sentinel.name] = len(sentinel.history())
	if writes := home.writesSince(marks); writes != "" {
		return fail("%s", writes)
	}
	return during.judge()
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// follower steps a record through time.
type follower struct {
	spec    v1beta1.ScheduledMachineSpec
	current *outlook
	again   time.Time
}

func (f *follower) read(state contract.State, next, now time.Time) {
	seen := reading(state)
	seen.NextTransition = next
	f.current, f.again = record(&f.spec, f.current, seen, now)
}

func TestWhatTheMachineFollows(t *testing.T) {
	opening := time.Date(2031, 5, 6, 9, 30, 0, 0, time.UTC)
	at := opening.Add
	type look struct {
		at     time.Duration
		says   contract.State
		next   time.Duration // from the opening; zero for none
		follow bool
		again  time.Duration // from the opening; zero for none
	}
	const day, minute = 24 * time.Hour, time.Minute
	on, off, dark := contract.Active, contract.Inactive, contract.Unresolved
	for name, test := range map[string]struct {
		minimum, lead v1beta1.Timeout
		looks         []look
	}{
		"neither": {looks: []look{
			{at: -day, says: off}, {at: 0, says: on, follow: true}, {at: minute, says: off}, {at: 2 * minute, says: dark},
		}},
		"a lead begins exactly in time and the opening takes over": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1},
			{at: -15*minute + 1, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: 1, says: on, next: day, follow: true},
			{at: day, says: off},
		}},
		"a lead alone holds nothing back, not for a moment": {lead: "15m", looks: []look{
			{at: -day, says: on, follow: true}, {at: -day + 1, says: off}, {at: -day + 2, says: on, follow: true},
		}},
		"a lead is not begun a moment before its time": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1}, {at: -15 * minute, says: off, next: 1, again: -15*minute + 1},
		}},
		"a schedule that is late at its opening gets as long again": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1},
			{at: -10 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: 10 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: 15*minute + 1, says: off, next: 1},
		}},
		"a schedule that thinks better of it ends the lead": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1},
			{at: -10 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: -9 * minute, says: off, next: day, again: day - 15*minute},
		}},
		"a lead that has begun goes on while the schedule cannot be read": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1},
			{at: -10 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: -5 * minute, says: dark, follow: true},
			{at: day, says: dark, follow: true},
			{at: day + minute, says: off},
		}},
		"a lead that begins at a close goes on while the schedule cannot be read": {lead: "15m", looks: []look{
			{at: -day, says: on, follow: true},
			{at: -10 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: -5 * minute, says: dark, follow: true},
			{at: -4 * minute, says: off, next: 1, follow: true, again: 15*minute + 1},
		}},
		"no lead begins while the schedule cannot be read": {lead: "15m", looks: []look{
			{at: -day, says: off, next: 1, again: -15*minute + 1}, {at: -10 * minute, says: dark},
		}},
		"the first verdict is followed at once": {minimum: "10m", looks: []look{{at: 0, says: on, follow: true}}},
		"the first change is followed at once, the next one waits": {minimum: "10m", looks: []look{
			{at: 0, says: off},
			{at: minute, says: on, follow: true},
			{at: 2 * minute, says: off, follow: true, again: 11 * minute},
			{at: 11*minute - 1, says: off, follow: true, again: 11 * minute},
			{at: 11 * minute, says: off},
		}},
		"a change that does not last is never followed": {minimum: "10m", looks: []look{
			{at: 0, says: off},
			{at: minute, says: on, follow: true},
			{at: 2 * minute, says: off, follow: true, again: 11 * minute},
			{at: 3 * minute, says: on, follow: true},
			{at: 20 * minute, says: on, follow: true},
		}},
		"a change on record waits no longer because the schedule cannot be read": {minimum: "10m", looks: []look{
			{at: 0, says: off},
			{at: minute, says: on, follow: true},
			{at: 2 * minute, says: off, follow: true, again: 11 * minute},
			{at: 3 * minute, says: dark, follow: true, again: 11 * minute},
			{at: 11 * minute, says: dark},
		}},
		"both": {minimum: "30m", lead: "15m", looks: []look{
			{at: -day, says: off},
			{at: -40*minute + 1, says: on, follow: true},
			{at: -35 * minute, says: off, next: 1, follow: true, again: -15*minute + 1},
			{at: -15*minute + 1, says: off, next: 1, follow: true, again: 15*minute + 1},
			{at: 1, says: on, follow: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := follower{spec: v1beta1.ScheduledMachineSpec{MinimumStateDuration: test.minimum, ActivationLead: test.lead}}
			instant := func(offset time.Duration) time.Time {
				if offset == 0 {
					return time.Time{}
				}
				return at(offset)
			}
			for i, look := range test.looks {
				f.read(look.says, instant(look.next), at(look.at))
				if got := followedOf(f.current); got != look.follow || !f.again.Equal(instant(look.again)) {
					t.Fatalf("look %d, %s from the opening: follows %t, again at %s; want %t, %s",
						i+1, look.at, got, f.again, look.follow, instant(look.again))
				}
			}
		})
	}
}

// TestTheMinimumIsNeverShort walks random schedules: with a minimum, two changes
// of what is followed are never closer together, and the last word of a schedule
// that keeps still is followed in the end.
func TestTheMinimumIsNeverShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const minimum = 10 * time.Minute
		f := follower{spec: v1beta1.ScheduledMachineSpec{MinimumStateDuration: "10m"}}
		now, last, changes, was := noon, time.Time{}, 0, false
		state := contract.Inactive
		for range rapid.IntRange(1, 60).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(15*time.Minute)).Draw(t, "pause")))
			state = rapid.SampledFrom([]contract.State{contract.Active, contract.Inactive, contract.Unresolved}).Draw(t, "state")
			first := !everResolved(f.current)
			f.read(state, time.Time{}, now)
			if is := followedOf(f.current); is != was && !first {
				if changes++; changes > 1 && now.Sub(last) < minimum {
					t.Fatalf("changed %s after the last change", now.Sub(last))
				}
				last = now
			}
			was = followedOf(f.current)
		}
		f.read(state, time.Time{}, now.Add(minimum+time.Second))
		if followedOf(f.current) != verdictOf(f.current) {
			t.Fatalf("the verdict is %t and is not followed though it kept still", verdictOf(f.current))
		}
	})
}

func TestAScheduleThatChangesTooOftenFlaps(t *testing.T) {
	for name, test := range map[string]struct {
		minimum v1beta1.Timeout
		changes []int // in minutes
		at      int
		want    bool
		until   int
	}{
		"three changes":                {changes: []int{0, 1, 2}, at: 3},
		"four within the window":       {changes: []int{0, 1, 2, 9}, at: 9, want: true, until: 10},
		"four, a moment too far apart": {changes: []int{0, 1, 2, 10}, at: 10},
		"it ends by itself":            {changes: []int{0, 1, 2, 9}, at: 10},
		"many":                         {changes: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, at: 11, want: true, until: 18},
		"a longer minimum widens it":   {minimum: "20m", changes: []int{0, 10, 20, 30}, at: 30, want: true, until: 40},
	} {
		t.Run(name, func(t *testing.T) {
			f := follower{spec: v1beta1.ScheduledMachineSpec{MinimumStateDuration: test.minimum}}
			start := noon.Truncate(time.Second)
			minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
			for i, at := range test.changes {
				state := []contract.State{contract.Active, contract.Inactive}[i%2]
				f.read(state, time.Time{}, minute(at))
			}
			is, until := flapping(&f.spec, f.current, minute(test.at))
			if is != test.want || is && !until.Equal(minute(test.until)) {
				t.Errorf("flaps: %t until %s, want %t until %s", is, until, test.want, minute(test.until))
			}
			if len(f.current.RecentTransitions) > keptTransitions {
				t.Errorf("%d changes are kept", len(f.current.RecentTransitions))
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// follow sets which verdict the machine follows, where spec.activationLead or
// spec.minimumStateDuration can make that another one than the schedule's. It
// returns the instant at which that changes though nobody tells; zero if none.
func follow(spec *v1beta1.ScheduledMachineSpec, before, after *outlook, reading contract.Reading, now time.Time) time.Time {
	minimum, lead := timeoutOr(spec.MinimumStateDuration, 0), timeoutOr(spec.ActivationLead, 0)
	if minimum == 0 && lead == 0 || after.Active == nil {
		return time.Time{}
	}
	was, since := followedBefore(before)
	target, again := aim(lead, after, reading, before != nil && before.Ahead, now)
	after.Ahead = target && !*after.Active
	if was == nil || *was == target {
		after.Followed, after.FollowedSince = &target, since
		return again
	}
	if since != nil && minimum > 0 {
		if free := since.Add(minimum); now.Before(free) {
			after.Followed, after.FollowedSince = was, since
			return earliest(free, again)
		}
	}
	after.Followed, after.FollowedSince = &target, new(ceilSecond(now))
	return again
}

// followedBefore returns what was followed so far and since when; nil where
// nothing was. The first verdict of all is no change, so it has no since.
func followedBefore(before *outlook) (*bool, *metav1.Time) {
	switch {
	case !everResolved(before):
		return nil, nil
	case before.Followed != nil:
		return before.Followed, before.FollowedSince
	}
	return before.Active, before.LastTransitionTime
}

// aim returns the verdict to follow but for the minimum duration: the
// schedule's own or, within the lead before its next opening, active. A schedule
// that is late at its opening gets as long again, and a minute at least, before
// its word against the machine counts. While it cannot be read, a lead that has
// begun goes on and none begins.
func aim(lead time.Duration, record *outlook, reading contract.Reading, ahead bool, now time.Time) (up bool, again time.Time) {
	opens := reading.NextTransition
	switch {
	case verdictOf(record) || lead == 0:
		return verdictOf(record), time.Time{}
	case !reading.Resolved():
		return ahead, time.Time{}
	case opens.IsZero():
		return false, time.Time{}
	}
	begin, end := opens.Add(-lead), opens.Add(max(lead, time.Minute))
	switch {
	case now.Before(begin):
		return false, begin
	case now.Before(end):
		return true, end
	}
	return false, time.Time{}
}

// ceilSecond rounds up to the second, which is what a status keeps: a minimum
// that is counted from it is never short.
func ceilSecond(instant time.Time) metav1.Time {
	return metav1.NewTime(instant.Add(time.Second - time.Nanosecond)).Rfc3339Copy()
}

// earliest returns the earlier of two instants, of which a zero one is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

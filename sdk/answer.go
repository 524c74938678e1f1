// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"
)

// answerState is what is known of a question.
type answerState struct {
	// known is false before the first attempt has ended.
	known bool
	// value and at are those of the last good answer; at is zero when there was none.
	value any
	at    time.Time
	// err is why the last attempt brought none; nil when it did.
	err error
}

// after returns the state that an attempt leaves behind. The error of a row of
// failures is that of the first one of its reason: texts that differ each time
// (by a port, say) are not news.
func (s answerState) after(server string, value any, err error, now time.Time) answerState {
	if err == nil {
		return answerState{known: true, value: value, at: now}
	}
	next := s
	next.known = true
	if s.err == nil || failure(s.err).reason != failureOf(err).reason {
		next.err = unanswered(server, err, s.at, now)
	}
	return next
}

// news reports whether s says something else than before.
func (s answerState) news(before answerState) bool {
	return s.known != before.known || !sameError(s.err, before.err) || !reflect.DeepEqual(s.value, before.value)
}

func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

// unanswered returns what Evaluate is told when there is no answer since now.
func unanswered(server string, err error, lastAnswer, now time.Time) error {
	text := fmt.Sprintf("%s has given no answer since %s", server, timestamp(now))
	if !lastAnswer.IsZero() {
		text += ", the last one is of " + timestamp(lastAnswer)
	}
	failed := failureOf(err)
	told := fmt.Errorf("%s: %w", text, err)
	if invalid := (*InvalidSpecError)(nil); errors.As(err, &invalid) {
		return InvalidSpec(told)
	}
	return NotReady(failed.reason, told)
}

// failureOf is failure for an error of a question's Ask, which is no evaluation.
func failureOf(err error) outcome {
	failed := failure(err)
	if failed.reason == ReasonEvaluationFailed {
		failed.reason = ReasonNoAnswer
	}
	return failed
}

// spread returns the next instant after now of those that are an interval apart,
// at a place in the interval that is the question's own.
func spread(id pollID, interval time.Duration, now time.Time) time.Time {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s\x00%s\x00%s", id.schedule, id.server, id.request)
	place := time.Duration(hash.Sum64() % uint64(interval)).Truncate(time.Millisecond)
	if interval >= time.Minute {
		place = place.Truncate(time.Second) // fine enough, and pleasant to read
	}
	next := now.Truncate(interval).Add(place)
	if !next.After(now) {
		next = next.Add(interval)
	}
	return next
}

// pause returns how long to wait after so many failures in a row.
func pause(failures int, base, longest time.Duration) time.Duration {
	pause := base
	for range failures - 1 {
		if pause >= longest {
			break
		}
		pause *= 2
	}
	return min(pause, longest)
}

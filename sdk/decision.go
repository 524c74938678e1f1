// SPDX-License-Identifier: Apache-2.0

package sdk

import "time"

// ReasonReconciled is the reason of a Ready condition that is True, where a
// Decision gives no better one.
const ReasonReconciled = "Reconciled"

// Decision is what a schedule says at one instant. The zero value says inactive
// until somebody edits the object.
type Decision struct {
	// Active is the verdict, published as status.active: true wants the machine
	// up, false wants it down.
	Active bool

	// Until is the instant at which the decision may come to be another one
	// though nobody edits the object. The schedule is evaluated again at that
	// instant, not before and not by polling, and status.nextTransitionTime
	// shows it, up to the year 9999 in UTC. Zero means: only an edit changes it.
	// An Until that is not after the instant of the evaluation is a mistake of the
	// provider: the schedule then reads as not ready, for [ReasonInvalidDecision].
	Until time.Time

	// Reason is the reason of the Ready condition: one word in CamelCase, of
	// letters, digits, '_', ',' and ':', that says why the decision is what it
	// is ("Holiday"). Empty means [ReasonReconciled]. Where Kubernetes would
	// refuse the reason it is put in front of the message instead.
	Reason string

	// Message is the message of the Ready condition: a sentence for the person
	// on call. Keep out what changes from one evaluation to the next (an age, a
	// countdown), since every change of it is a write, and keep out secrets.
	Message string
}

// SPDX-License-Identifier: Apache-2.0

package contract

import "fmt"

// Reasons of a verdict. They are also the reasons of the condition
// SpotScheduleResolved on a ScheduledMachine.
const (
	// ReasonResolved: the schedule gave a verdict.
	ReasonResolved = "Resolved"
	// ReasonProviderCRDNotInstalled: no CRD of the group serves the kind.
	ReasonProviderCRDNotInstalled = "ProviderCRDNotInstalled"
	// ReasonProviderNotFound: the kind is served and the object does not exist.
	ReasonProviderNotFound = "ProviderNotFound"
	// ReasonStatusActiveMissing: status.active is missing or not a JSON boolean.
	ReasonStatusActiveMissing = "StatusActiveMissing"
	// ReasonProviderNotReady: the provider says that status.active is not to be
	// trusted now, or its conditions cannot be read.
	ReasonProviderNotReady = "ProviderNotReady"
)

// State is one of three answers to "should the machine be up?".
type State int

const (
	// Unresolved: there is no answer; hold the last one. It is the zero value.
	Unresolved State = iota
	// Active: up.
	Active
	// Inactive: down.
	Inactive
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Active:
		return "Active"
	case Inactive:
		return "Inactive"
	case Unresolved:
		return "Unresolved"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Verdict is what a schedule says, or why it says nothing. The zero value is
// unresolved, without a reason.
type Verdict struct {
	// State is the answer.
	State State
	// Reason is one of the Reason constants.
	Reason string
	// Message says in words what was seen, for the person on call.
	Message string
}

// Resolved reports whether the schedule gave an answer.
func (v Verdict) Resolved() bool { return v.State != Unresolved }

// UnresolvedBecause returns a verdict without an answer, for the given reason.
func UnresolvedBecause(reason, format string, args ...any) Verdict {
	return Verdict{State: Unresolved, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

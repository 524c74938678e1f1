// SPDX-License-Identifier: Apache-2.0

package sdk

import "errors"

// Reasons of a Ready condition that is False, beside those which a provider
// gives to [NotReady].
const (
	// ReasonInvalidSpec: the spec cannot be evaluated before somebody edits it.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonEvaluationFailed: Evaluate returned an error of no particular type.
	ReasonEvaluationFailed = "EvaluationFailed"
	// ReasonEvaluationPanicked: Evaluate panicked.
	ReasonEvaluationPanicked = "EvaluationPanicked"
	// ReasonInvalidDecision: Evaluate returned a Decision that cannot be, see Decision.Until.
	ReasonInvalidDecision = "InvalidDecision"
	// ReasonObjectNotFound: an object that the decision depends on does not exist, see [Objects.Get].
	ReasonObjectNotFound = "ObjectNotFound"
	// ReasonObjectUnreadable: an object that the decision depends on cannot be read, see [Objects.Get].
	ReasonObjectUnreadable = "ObjectUnreadable"
	// ReasonNoAnswer: a server that the decision depends on gives no answer, see [Ask].
	ReasonNoAnswer = "NoAnswer"
)

// InvalidSpecError says that a spec cannot be evaluated as it is. See [InvalidSpec].
type InvalidSpecError struct {
	// Err says what is wrong, and where.
	Err error
}

// Error returns the text of Err.
func (e *InvalidSpecError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *InvalidSpecError) Unwrap() error { return e.Err }

// InvalidSpec marks err as the fault of the spec. Returned by Evaluate, also
// wrapped, it makes the schedule Ready=False for [ReasonInvalidSpec] with the
// text of err as the message; status.active stays as it was and Evaluate is not
// called again before somebody edits the object. The errors of
// k8s.io/apimachinery/pkg/util/validation/field name the field at fault and
// are a good choice. InvalidSpec(nil) is nil.
func InvalidSpec(err error) error {
	if err == nil {
		return nil
	}
	return &InvalidSpecError{Err: err}
}

// NotReadyError says that there is no decision for the time being. See [NotReady].
type NotReadyError struct {
	// Reason is the reason of the Ready condition, in CamelCase.
	Reason string
	// Err says what is missing.
	Err error
}

// Error returns the text of Err.
func (e *NotReadyError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NotReadyError) Unwrap() error { return e.Err }

// NotReady marks err as a trouble that may pass without an edit: a server that
// does not answer, a feed that is not there. Returned by Evaluate, also
// wrapped, it makes the schedule Ready=False for the given reason with the text
// of err as the message; status.active stays as it was and Evaluate is called
// again with growing pauses (see [WithBackoff]). The reason is also a label of
// a metric, so take it from a short list. NotReady with a nil err is nil.
//
// An error of any other type does the same, for [ReasonEvaluationFailed]. In
// every case the text of the error is published in the object's status: it must
// hold no secret, token or response body.
func NotReady(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &NotReadyError{Reason: reason, Err: err}
}

// rewordedError is its cause in another text.
type rewordedError struct {
	text  string
	cause error
}

func (e *rewordedError) Error() string { return e.text }
func (e *rewordedError) Unwrap() error { return e.cause }

// failure translates an error of Evaluate.
func failure(err error) outcome {
	failed := outcome{cause: err, message: err.Error(), retry: true, reason: ReasonEvaluationFailed}
	if invalid := (*InvalidSpecError)(nil); errors.As(err, &invalid) {
		failed.reason, failed.retry = ReasonInvalidSpec, false
	} else if notReady := (*NotReadyError)(nil); errors.As(err, &notReady) {
		failed.reason = notReady.Reason
	}
	return failed
}

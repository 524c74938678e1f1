// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	machinery "k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/fivespot/fivespot/api/contract"
)

// Schedule is what the type of a schedule kind has to be: a struct with
// metav1.TypeMeta, metav1.ObjectMeta, a spec and a status, of which
// ScheduleStatus returns the part that the contract defines. That part is the
// whole status, or is embedded inline in a bigger one.
type Schedule[T any] interface {
	*T
	metav1.Object
	ScheduleStatus() *contract.Status
}

// outcome is what one evaluation came to.
type outcome struct {
	// decided says that active and until count. Otherwise the verdict of before
	// stands and the schedule is not ready.
	decided bool
	active  bool
	until   time.Time
	reason  string
	message string
	// retry asks for another evaluation though nobody edits the object.
	retry bool
	// cause is why nothing was decided.
	cause error
	// own is what Evaluate changed in the status beside the contract's fields.
	own ownStatus
}

// evaluator evaluates one object, given as the API server stores it.
type evaluator func(ctx context.Context, object *unstructured.Unstructured, now time.Time) outcome

// newEvaluator wraps the function of an author.
func newEvaluator[T any, P Schedule[T]](evaluate func(context.Context, P, time.Time) (Decision, error)) evaluator {
	return func(ctx context.Context, object *unstructured.Unstructured, now time.Time) outcome {
		schedule, err := decode[T, P](object)
		if err != nil {
			return failure(InvalidSpec(err))
		}
		before, err := statusOf(schedule)
		if err != nil {
			return failure(err)
		}
		decision, err := callSafely(func() (Decision, error) { return evaluate(ctx, schedule, now) })
		if panicked := (*panicError)(nil); errors.As(err, &panicked) {
			return panicked.outcome()
		}
		after, encodeErr := statusOf(schedule)
		if encodeErr != nil {
			return failure(encodeErr)
		}
		result := conclude(decision, err, now)
		result.own = ownChanges(before, after)
		return result
	}
}

// conclude turns what Evaluate returned into an outcome.
func conclude(decision Decision, err error, now time.Time) outcome {
	if err != nil {
		return failure(err)
	}
	if !decision.Until.IsZero() && !decision.Until.After(now) {
		return failure(NotReady(ReasonInvalidDecision, fmt.Errorf(
			"the provider decided at %s until %s, which is not later; this is a mistake in the provider",
			now.Format(time.RFC3339Nano), decision.Until.Format(time.RFC3339Nano))))
	}
	return outcome{
		decided: true,
		active:  decision.Active,
		until:   decision.Until,
		reason:  decision.Reason,
		message: decision.Message,
	}
}

// decode reads the object into the author's type. A status that does not fit
// the type (somebody else wrote it) is left out rather than held against the
// spec.
func decode[T any, P Schedule[T]](object *unstructured.Unstructured) (P, error) {
	schedule := P(new(T))
	err := decodeInto(object.Object, schedule)
	if err == nil {
		return schedule, nil
	}
	withoutStatus := map[string]any{}
	for field, value := range object.Object {
		if field != "status" {
			withoutStatus[field] = value
		}
	}
	schedule = P(new(T))
	if retryErr := decodeInto(withoutStatus, schedule); retryErr != nil {
		return nil, fmt.Errorf("the object does not have the shape that the provider expects: %w", retryErr)
	}
	return schedule, nil
}

func decodeInto(object map[string]any, schedule any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, schedule)
}

// statusOf returns the status of an author's object as decoded JSON.
func statusOf(schedule any) (map[string]any, error) {
	object, err := encode(schedule)
	status, _ := object["status"].(map[string]any)
	return status, err
}

// encode returns an author's object as decoded JSON.
func encode(object any) (map[string]any, error) {
	encoded, err := machinery.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	return encoded, nil
}

// panicError is a panic of Evaluate. Its text keeps the panic's value out,
// which may hold anything.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return "the provider panicked while it evaluated this object; its log shows where"
}

// presentable describes the panic's value for the log, where it is not known
// which secrets it may hold.
func (e *panicError) presentable() string {
	if err, ok := e.value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a value of type %T", e.value)
}

func (e *panicError) outcome() outcome {
	failed := failure(e)
	failed.reason = ReasonEvaluationPanicked
	return failed
}

func callSafely(evaluate func() (Decision, error)) (decision Decision, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return evaluate()
}

// checkType says what is wrong with an author's type, or nil.
func checkType[T any, P Schedule[T]]() error {
	active := true
	schedule := P(new(T))
	name := reflect.TypeFor[T]()
	block := schedule.ScheduleStatus()
	if block == nil {
		return fmt.Errorf("%s: ScheduleStatus returns nil for an empty object; embed contract.Status by value", name)
	}
	block.Active = &active
	status, err := statusOf(schedule)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if status["active"] != true {
		return fmt.Errorf("%s: ScheduleStatus must return the part of the object that is stored at .status, "+
			`in a field with the tag json:"status"; where it is embedded in a bigger struct, inline (json:",inline")`, name)
	}
	return nil
}

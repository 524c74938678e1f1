// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// The fields of the contract, as they are spelled in a status.
const (
	fieldActive             = "active"
	fieldObservedGeneration = "observedGeneration"
	fieldLastTransitionTime = "lastTransitionTime"
	fieldNextTransitionTime = "nextTransitionTime"
	fieldConditions         = "conditions"
)

// lastYear is the last one of RFC 3339; the API server refuses a time after it.
const lastYear = 9999

// ownStatus is what Evaluate changed in the status beside the contract's fields.
type ownStatus struct {
	// fields holds the new value of a field of .status; nil removes it.
	fields map[string]any
	// conditions holds the new entry of a condition type; nil removes it.
	conditions map[string]map[string]any
}

// ownChanges compares the author's status before and after Evaluate.
func ownChanges(before, after map[string]any) ownStatus {
	changed := ownStatus{fields: map[string]any{}}
	for _, status := range []map[string]any{before, after} {
		for field := range status {
			if !isContractField(field) && !reflect.DeepEqual(before[field], after[field]) {
				changed.fields[field] = after[field]
			}
		}
	}
	changed.conditions = conditionChanges(before[fieldConditions], after[fieldConditions])
	return changed
}

func isContractField(field string) bool {
	switch field {
	case fieldActive, fieldObservedGeneration, fieldLastTransitionTime, fieldNextTransitionTime, fieldConditions:
		return true
	}
	return false
}

// nextStatus returns what .status becomes by an outcome at an instant. It
// leaves current as it is, and keeps in it whatever belongs to somebody else.
func nextStatus(current map[string]any, generation int64, result outcome, now time.Time) map[string]any {
	next := runtime.DeepCopyJSON(current)
	if next == nil {
		next = map[string]any{}
	}
	for field, value := range result.own.fields {
		setOrRemove(next, field, value)
	}
	next[fieldObservedGeneration] = generation
	if was, known := current[fieldActive].(bool); result.decided && (!known || was != result.active) {
		next[fieldActive] = result.active
		next[fieldLastTransitionTime] = timestamp(now)
	}
	delete(next, fieldNextTransitionTime)
	if result.decided && !result.until.IsZero() && result.until.UTC().Year() <= lastYear {
		next[fieldNextTransitionTime] = timestamp(result.until)
	}
	next[fieldConditions] = nextConditions(next[fieldConditions], result, now)
	return next
}

func setOrRemove(fields map[string]any, field string, value any) {
	if value == nil {
		delete(fields, field)
		return
	}
	fields[field] = value
}

// timestamp spells an instant as Kubernetes does, in whole seconds.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fivespot/fivespot/api/contract"
)

// statusField returns a field of the status; nil if it is absent.
func statusField(object *unstructured.Unstructured, field string) any {
	status, _ := object.Object["status"].(map[string]any)
	return status[field]
}

// activeIs returns nil when status.active is the boolean.
func activeIs(object *unstructured.Unstructured, want bool) error {
	switch active := statusField(object, "active").(type) {
	case bool:
		if active == want {
			return nil
		}
		return fmt.Errorf("status.active is %t", active)
	case nil:
		return errors.New("status.active is absent")
	default:
		return fmt.Errorf("status.active is %s", jsonKind(active))
	}
}

// hasActive returns nil when status.active is there, whatever it is.
func hasActive(object *unstructured.Unstructured) error {
	if statusField(object, "active") == nil {
		return errors.New("status.active is absent")
	}
	return nil
}

// jsonKind describes a value that should be something else.
func jsonKind(value any) string {
	switch value := value.(type) {
	case nil:
		return "absent"
	case string:
		return fmt.Sprintf("the string %q", value)
	case bool:
		return fmt.Sprintf("the boolean %t", value)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprintf("the number %v", value)
}

// conditionsOf returns the entries of status.conditions whose type is the given one.
func conditionsOf(object *unstructured.Unstructured, ofType string) []map[string]any {
	list, _ := statusField(object, "conditions").([]any)
	var entries []map[string]any
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok && entry["type"] == ofType {
			entries = append(entries, entry)
		}
	}
	return entries
}

// notReady returns nil when the object says that it is not to be trusted now.
func notReady(object *unstructured.Unstructured) error {
	entries := conditionsOf(object, contract.ConditionReady)
	for _, entry := range entries {
		if entry["status"] != "True" {
			return nil
		}
	}
	if len(entries) == 0 {
		return errors.New("there is no Ready condition")
	}
	return errors.New("the Ready condition is still True")
}

// readsAs returns nil when a reader comes to the state, by the contract.
func readsAs(object *unstructured.Unstructured, want contract.State) error {
	reading := contract.ReadObject(object)
	if reading.State == want {
		return nil
	}
	return fmt.Errorf("a reader takes it as %s: %s", reading.State, reading.Message)
}

// readAs is readsAs for a wait.
func readAs(want contract.State) func(*unstructured.Unstructured) error {
	return func(object *unstructured.Unstructured) error { return readsAs(object, want) }
}

// reasonPattern is that of metav1.Condition.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// wellFormedReady says what is wrong with the Ready condition, or nil.
func wellFormedReady(object *unstructured.Unstructured) error {
	conditions := statusField(object, "conditions")
	list, ok := conditions.([]any)
	if conditions != nil && !ok {
		return fmt.Errorf("status.conditions is %s", jsonKind(conditions))
	}
	for i, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return fmt.Errorf("status.conditions[%d] is %s", i, jsonKind(item))
		}
	}
	entries := conditionsOf(object, contract.ConditionReady)
	if len(entries) != 1 {
		return fmt.Errorf("there are %d conditions of type Ready", len(entries))
	}
	ready := entries[0]
	status, _ := ready["status"].(string)
	reason, _ := ready["reason"].(string)
	_, hasMessage := ready["message"].(string)
	switch {
	case !slices.Contains([]string{"True", "False", "Unknown"}, status):
		return fmt.Errorf(`its status is %s, not "True", "False" or "Unknown"`, jsonKind(ready["status"]))
	case !reasonPattern.MatchString(reason):
		return fmt.Errorf("its reason is %s, not one word in CamelCase", jsonKind(ready["reason"]))
	case !hasMessage:
		return fmt.Errorf("its message is %s", jsonKind(ready["message"]))
	}
	if _, err := timestamp(ready["lastTransitionTime"]); err != nil {
		return fmt.Errorf("its lastTransitionTime %w", err)
	}
	return nil
}

// timestamp reads an RFC 3339 time; the error goes after a field's name.
func timestamp(value any) (time.Time, error) {
	text, ok := value.(string)
	if !ok {
		return time.Time{}, fmt.Errorf("is %s", jsonKind(value))
	}
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("is %q, not an RFC 3339 time", text)
	}
	return instant, nil
}

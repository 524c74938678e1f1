// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Read returns the verdict in a schedule's status, given as decoded JSON: nil
// when the object has none. It answers Active or Inactive only for a JSON
// boolean that the provider stands by, and never panics, whatever the shape.
func Read(status any) Verdict {
	fields, ok := status.(map[string]any)
	if !ok {
		return UnresolvedBecause(ReasonStatusActiveMissing, "the object has no status yet")
	}
	active, present := fields["active"]
	value, ok := active.(bool)
	if !ok {
		if !present || active == nil {
			return UnresolvedBecause(ReasonStatusActiveMissing, "status.active is missing")
		}
		return UnresolvedBecause(ReasonStatusActiveMissing, "status.active is not a boolean but %s", jsonType(active))
	}
	if why := notReady(fields["conditions"]); why != "" {
		return UnresolvedBecause(ReasonProviderNotReady, "%s", why)
	}
	if value {
		return Verdict{State: Active, Reason: ReasonResolved, Message: "status.active is true"}
	}
	return Verdict{State: Inactive, Reason: ReasonResolved, Message: "status.active is false"}
}

// notReady says why the conditions forbid to trust status.active, or "" if
// they do not.
func notReady(conditions any) string {
	if conditions == nil {
		return ""
	}
	list, ok := conditions.([]any)
	if !ok {
		return "status.conditions is not a list but " + jsonType(conditions)
	}
	why := ""
	for _, entry := range list {
		condition, ok := entry.(map[string]any)
		if !ok {
			return "status.conditions holds " + jsonType(entry) + " where an object is due"
		}
		if condition["type"] == ConditionReady && condition["status"] != "True" && why == "" {
			why = describe(condition)
		}
	}
	return why
}

func describe(ready map[string]any) string {
	text := "the provider's Ready condition is not True"
	if reason, ok := ready["reason"].(string); ok && reason != "" {
		text += ": " + shorten(reason)
	}
	if message, ok := ready["message"].(string); ok && message != "" {
		text += ": " + shorten(message)
	}
	return text
}

// maxQuoted bounds, in bytes, each text that is taken over from a provider. A
// foreign CRD may allow any length, and a condition that quotes it whole would
// be refused by the API server (32768 characters).
const maxQuoted = 1024

// shorten cuts a text to maxQuoted bytes, between two characters.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxQuoted {
		return text
	}
	end := maxQuoted
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// jsonType names the type of a JSON value, with its article.
func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a number"
}

// Reading is everything that 5-Spot takes from a schedule object.
type Reading struct {
	Verdict

	// Generation is the object's metadata.generation; 0 when there is no object.
	Generation int64
	// ObservedGeneration is status.observedGeneration; nil when absent or not a whole number.
	ObservedGeneration *int64
	// NextTransition is status.nextTransitionTime; zero when absent or not RFC 3339.
	NextTransition time.Time
}

// Stale reports whether the object was edited since its status was written.
// A stale status still counts.
func (r Reading) Stale() bool {
	return r.ObservedGeneration != nil && *r.ObservedGeneration < r.Generation
}

// Equal reports whether two readings say the same.
func (r Reading) Equal(other Reading) bool {
	sameGeneration := r.ObservedGeneration == nil && other.ObservedGeneration == nil ||
		r.ObservedGeneration != nil && other.ObservedGeneration != nil && *r.ObservedGeneration == *other.ObservedGeneration
	return r.Verdict == other.Verdict && r.Generation == other.Generation && sameGeneration && r.NextTransition.Equal(other.NextTransition)
}

// ReadObject reads a schedule object. Of its spec it reads nothing.
func ReadObject(object *unstructured.Unstructured) Reading {
	status := object.Object["status"]
	reading := Reading{Verdict: Read(status), Generation: object.GetGeneration()}
	fields, ok := status.(map[string]any)
	if !ok {
		return reading
	}
	if generation, ok := wholeNumber(fields["observedGeneration"]); ok {
		reading.ObservedGeneration = &generation
	}
	if text, ok := fields["nextTransitionTime"].(string); ok {
		if next, err := time.Parse(time.RFC3339, text); err == nil {
			reading.NextTransition = next
		}
	}
	return reading
}

// wholeNumber reads a JSON number that has no fraction, however it was
// written: 3 is decoded as an int64, 3.0 as a float64.
func wholeNumber(value any) (int64, bool) {
	switch number := value.(type) {
	case int64:
		return number, true
	case float64:
		// Beyond 2^53 a float64 no longer tells one whole number from the next.
		if number == math.Trunc(number) && math.Abs(number) <= 1<<53 {
			return int64(number), true
		}
	}
	return 0, false
}

// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fivespot/fivespot/api/contract"
)

// conditionReason is what metav1.Condition allows as a reason.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

const (
	// maxReasonLength and maxMessageLength are metav1.Condition's.
	maxReasonLength  = 1024
	maxMessageLength = 32768
)

// nextConditions returns the list of conditions with the author's changes and
// the Ready condition that the outcome calls for. Entries of other types stay
// as they are; what is no condition at all goes, since readers hold on it.
func nextConditions(current any, result outcome, now time.Time) []any {
	var next []any
	seen := map[string]bool{}
	ready := map[string]any(nil)
	for _, entry := range conditionEntries(current) {
		kind, _ := entry["type"].(string)
		if kind == contract.ConditionReady {
			if ready == nil {
				ready = entry
				next = append(next, readyCondition(entry, result, now))
			}
			continue
		}
		replacement, changed := result.own.conditions[kind]
		switch {
		case !changed:
			next = append(next, entry)
		case replacement != nil && !seen[kind]:
			next = append(next, since(entry, replacement, now))
		}
		seen[kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(result.own.conditions)) {
		if added := result.own.conditions[kind]; added != nil && !seen[kind] {
			next = append(next, since(nil, added, now))
		}
	}
	if ready == nil {
		next = append(next, readyCondition(nil, result, now))
	}
	return next
}

// readyCondition returns the Ready condition that takes the place of before.
// It has the five fields that the guide's CRD knows and no observedGeneration,
// which .status has already.
func readyCondition(before map[string]any, result outcome, now time.Time) map[string]any {
	status := "False"
	if result.decided {
		status = "True"
	}
	reason, message := presentable(result.reason, result.message, result.decided)
	return since(before, map[string]any{
		"type":    contract.ConditionReady,
		"status":  status,
		"reason":  reason,
		"message": message,
	}, now)
}

// since returns the condition with the time since when it has its status,
// unless it has one.
func since(before, condition map[string]any, now time.Time) map[string]any {
	if condition["lastTransitionTime"] != nil {
		return condition
	}
	dated := maps.Clone(condition)
	dated["lastTransitionTime"] = timestamp(now)
	if known, ok := before["lastTransitionTime"].(string); ok && known != "" && before["status"] == condition["status"] {
		dated["lastTransitionTime"] = known
	}
	return dated
}

// presentable returns a reason and a message that Kubernetes accepts, and that
// lose nothing of those given.
func presentable(reason, message string, decided bool) (validReason, validMessage string) {
	if !conditionReason.MatchString(reason) || len(reason) > maxReasonLength {
		switch {
		case reason != "" && message != "":
			message = reason + ": " + message
		case reason != "":
			message = reason
		}
		reason = ReasonEvaluationFailed
		if decided {
			reason = ReasonReconciled
		}
	}
	return reason, shorten(strings.ToValidUTF8(message, "\uFFFD"), maxMessageLength)
}

// shorten cuts a text that has more bytes than limit, between two characters.
func shorten(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	cut := limit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}

// conditionChanges compares the author's conditions but for Ready, which is the
// sdk's. It returns the new entry of each type that changed, nil where it went.
func conditionChanges(before, after any) map[string]map[string]any {
	was, is := conditionsByType(before), conditionsByType(after)
	changed := map[string]map[string]any{}
	for kind := range was {
		if is[kind] == nil {
			changed[kind] = nil
		}
	}
	for kind, entry := range is {
		if !reflect.DeepEqual(was[kind], entry) {
			changed[kind] = entry
		}
	}
	delete(changed, contract.ConditionReady)
	return changed
}

func conditionsByType(conditions any) map[string]map[string]any {
	byType := map[string]map[string]any{}
	for _, entry := range conditionEntries(conditions) {
		if kind, ok := entry["type"].(string); ok {
			byType[kind] = entry
		}
	}
	return byType
}

// conditionEntries returns those entries of a list of conditions that are
// objects; nil when it is no list.
func conditionEntries(conditions any) []map[string]any {
	list, _ := conditions.([]any)
	var entries []map[string]any
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

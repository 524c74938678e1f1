// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// decide makes the status of a ManualSchedule say what its spec says. What it
// does not decide stays as it is: fields and conditions of others, and every
// time that belongs to something which did not change.
func decide(schedule *unstructured.Unstructured, now time.Time) error {
	status, _, err := unstructured.NestedMap(schedule.Object, "status")
	if err != nil {
		return fmt.Errorf("reading the status: %w", err)
	}
	if status == nil {
		status = map[string]any{}
	}
	instant := now.UTC().Format(time.RFC3339)

	enabled, found, err := unstructured.NestedBool(schedule.Object, "spec", "enabled")
	ready := map[string]any{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "manual toggle applied"}
	switch {
	case err != nil || !found:
		// Nobody knows what is wanted. active stays, and Ready says not to trust it.
		ready["status"], ready["reason"], ready["message"] = "False", "InvalidSpec", "spec.enabled is missing: set it to true or to false"
	case status["active"] != enabled:
		status["active"] = enabled
		status["lastTransitionTime"] = instant
	}
	status["observedGeneration"] = schedule.GetGeneration()
	conditions, _ := status["conditions"].([]any)
	status["conditions"] = withReady(conditions, ready, instant)
	return unstructured.SetNestedMap(schedule.Object, status, "status")
}

// withReady puts a Ready condition in the place of the first one, or at the end,
// and drops any other. Its time moves when its status changes.
func withReady(conditions []any, ready map[string]any, instant string) []any {
	ready["lastTransitionTime"] = instant
	var all []any
	placed := false
	for _, entry := range conditions {
		condition, ok := entry.(map[string]any)
		switch {
		case !ok || condition["type"] != "Ready":
			all = append(all, entry)
		case !placed:
			if since, ok := condition["lastTransitionTime"].(string); ok && condition["status"] == ready["status"] {
				ready["lastTransitionTime"] = since
			}
			all = append(all, ready)
			placed = true
		}
	}
	if !placed {
		all = append(all, ready)
	}
	return all
}

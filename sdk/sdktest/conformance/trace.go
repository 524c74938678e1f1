// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// traceChecks look back at every object of the run.
func traceChecks() []Check {
	return []Check{{
		ID: "only-status-written", Rule: "C13", Level: Required,
		Title:  "The provider wrote nothing but the status of the objects",
		Advice: "Keep what the provider has to remember in the status: no finalizers, annotations, labels or owner references, and no edit of the spec. A patch goes to the /status subresource.",
		needs:  []string{idAppears},
		run:    onlyStatusWritten,
	}}
}

func onlyStatusWritten(ctx context.Context, e *env) (finding, error) {
	var wrong []string
	for _, s := range e.spaces {
		for _, made := range s.subjects {
			if made.deleted {
				continue
			}
			now, err := made.caughtUp(ctx)
			if err != nil {
				return finding{}, err
			}
			if foreign := foreignChanges(made.wrote, now); foreign != "" {
				wrong = append(wrong, foreign)
			}
		}
	}
	if len(wrong) > 0 {
		return fail("%d of the objects differ from what the kit wrote, the first in %s", len(wrong), wrong[0])
	}
	return pass("")
}

// foreignChanges says in which fields beside the status an object differs from
// what the kit wrote, and who wrote it according to the managed fields.
func foreignChanges(wrote, now *unstructured.Unstructured) string {
	var fields []string
	for _, field := range changes("", wrote.Object, now.Object) {
		if field != "status" && !strings.HasPrefix(field, "status.") {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	text := strings.Join(fields, ", ")
	var managers []string
	for _, entry := range now.GetManagedFields() {
		if entry.Subresource == "" && entry.Manager != fieldManager {
			managers = append(managers, entry.Manager)
		}
	}
	if len(managers) > 0 {
		text += fmt.Sprintf(" (by %s)", strings.Join(managers, ", "))
	}
	return text
}

// caughtUp returns the latest state, from the kit's last write on.
func (s *subject) caughtUp(ctx context.Context) (*unstructured.Unstructured, error) {
	wrote := s.wrote.GetResourceVersion()
	seen := false
	now, err := s.await(ctx, func(*unstructured.Unstructured) error {
		// The lock of the record is held.
		seen = seen || slices.ContainsFunc(s.space.seen.states[s.name], func(each state) bool {
			return each.GetResourceVersion() == wrote
		})
		if !seen {
			return errors.New("what the kit wrote has not been seen")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return now.Unstructured, nil
}

// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/api/v1beta1"
)

const conditionsPage = "docs/reference/conditions.md"

// reasonDirs are where reasons are declared.
var reasonDirs = []string{"api/v1beta1", "api/contract", "internal/schedules", "internal/workload", "sdk", "providers"}

func TestEveryConditionIsExplained(t *testing.T) {
	headings := readPage(t, conditionsPage).headings
	for name, condition := range constants(t, "api/v1beta1", "Condition") {
		if !slices.Contains(headings, condition) {
			t.Errorf("%s has no entry %q, which is %s", conditionsPage, condition, name)
		}
	}
}

func TestEveryReasonIsExplained(t *testing.T) {
	conditions := readPage(t, conditionsPage)
	for _, dir := range reasonDirs {
		reasons := constants(t, dir, "Reason")
		if len(reasons) == 0 && dir != "providers" {
			t.Errorf("found no reasons in %s", dir)
		}
		for name, reason := range reasons {
			if !slices.Contains(conditions.headings, reason) {
				t.Errorf("%s has no entry %q, which is %s in %s", conditionsPage, reason, name, dir)
			}
		}
	}
}

func TestNoReasonIsExplainedThatDoesNotExist(t *testing.T) {
	known := map[string]bool{}
	for _, dir := range reasonDirs {
		for _, prefix := range []string{"Reason", "Condition"} {
			for _, value := range constants(t, dir, prefix) {
				known[value] = true
			}
		}
	}
	for _, heading := range readPage(t, conditionsPage).headings {
		if oneWord := !strings.Contains(heading, " "); oneWord && !known[heading] &&
			heading != "Events" {
			t.Errorf("%s explains %q, which is no reason and no condition type", conditionsPage, heading)
		}
	}
}

func TestConceptsNameEveryPhaseAndCondition(t *testing.T) {
	concepts := readPage(t, "docs/concepts.md")
	quoted := concepts.quoted()
	for _, phase := range v1beta1.Phases {
		if !slices.Contains(quoted, string(phase)) {
			t.Errorf("docs/concepts.md does not name the phase %s", phase)
		}
	}
	for _, condition := range constants(t, "api/v1beta1", "Condition") {
		if !slices.Contains(quoted, condition) {
			t.Errorf("docs/concepts.md does not name the condition %s", condition)
		}
	}
}

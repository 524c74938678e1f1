// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/api/v1beta1"
)

func TestEveryReasonIsExplained(t *testing.T) {
	troubleshooting := readPage(t, "docs/troubleshooting.md")
	for _, dir := range []string{"api/v1beta1", "api/contract", "internal/schedules", "sdk", "providers"} {
		reasons := constants(t, dir, "Reason")
		if len(reasons) == 0 && dir != "providers" {
			t.Errorf("found no reasons in %s", dir)
		}
		for name, reason := range reasons {
			if !slices.Contains(troubleshooting.headings, reason) {
				t.Errorf("docs/troubleshooting.md has no entry %q, which is %s in %s", reason, name, dir)
			}
		}
	}
}

func TestNoReasonIsExplainedThatDoesNotExist(t *testing.T) {
	known := map[string]bool{}
	for _, dir := range []string{"api/v1beta1", "api/contract", "internal/schedules", "sdk", "providers"} {
		for _, prefix := range []string{"Reason", "Condition"} {
			for _, value := range constants(t, dir, prefix) {
				known[value] = true
			}
		}
	}
	for _, heading := range readPage(t, "docs/troubleshooting.md").headings {
		if oneWord := !strings.Contains(heading, " "); oneWord && !known[heading] &&
			!slices.Contains([]string{"Troubleshooting", "Events", "Alerts"}, heading) {
			t.Errorf("docs/troubleshooting.md explains %q, which is no reason and no condition type", heading)
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

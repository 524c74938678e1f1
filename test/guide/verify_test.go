// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// verify runs the guide's two commands, which print what the provider published
// and what 5-Spot made of it.
func verify(t *testing.T, active bool) {
	t.Helper()
	published, resolved, _ := strings.Cut(sh(t, block(t, verifyBlock)), "\n")
	expect(t, published, strconv.FormatBool(active))

	var got map[string]any
	if err := json.Unmarshal([]byte(resolved), &got); err != nil {
		t.Fatalf("status.spotSchedule is %q: %v", resolved, err)
	}
	changed, _ := got["lastTransitionTime"].(string)
	if _, err := time.Parse(time.RFC3339, changed); err != nil {
		t.Errorf("lastTransitionTime: %v", err)
	}
	generation := sh(t, "kubectl -n trading get manualschedule/desk-override -o jsonpath={.metadata.generation}")
	want := map[string]any{
		"resolved": true, "active": active, "reason": "Resolved", "message": fmt.Sprintf("status.active is %t", active),
		"providerGeneration": json.Number(generation), "lastTransitionTime": changed,
	}
	expectJSON(t, got, want)
	checkPublished(t, active, generation)
}

// checkPublished checks that the provider's whole status is the one of the
// guide's step 2.
func checkPublished(t *testing.T, active bool, generation string) {
	t.Helper()
	var got map[string]any
	text := sh(t, "kubectl -n trading get manualschedule/desk-override -o jsonpath={.status}")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("status is %q: %v", text, err)
	}
	changed, _ := got["lastTransitionTime"].(string)
	conditions, _ := got["conditions"].([]any)
	if len(conditions) != 1 {
		t.Fatalf("conditions are %v, want Ready", conditions)
	}
	ready, _ := conditions[0].(map[string]any)
	since, _ := ready["lastTransitionTime"].(string)
	for _, instant := range []string{changed, since} {
		if _, err := time.Parse(time.RFC3339, instant); err != nil {
			t.Errorf("a lastTransitionTime of the provider: %v", err)
		}
	}
	expectJSON(t, got, map[string]any{
		"active": active, "observedGeneration": json.Number(generation), "lastTransitionTime": changed,
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Reconciled", "message": "manual toggle applied", "lastTransitionTime": since,
		}},
	})
}

// checkTables checks what `kubectl get` shows, asked by short name. That of
// ManualSchedule needs its group here: ms alone means Cluster API's MachineSets.
func checkTables(t *testing.T, phase, on string) {
	t.Helper()
	expect(t, table(sh(t, "kubectl -n trading get ms.spotschedules.5spot.finos.org")), strings.Join([]string{
		"NAME ACTIVE",
		"desk-override " + on,
	}, "\n"))
	expect(t, table(sh(t, "kubectl -n trading get sm")), strings.Join([]string{
		"NAME PHASE READY INSCHEDULE ENABLED SCHEDULE KILLSWITCH AGE",
		"trading-desk-rack " + phase + " " + on + " " + on + " true ManualSchedule false AGE",
	}, "\n"))
}

// age is how kubectl shows one.
var age = regexp.MustCompile(`\b([0-9]+[smhd])+$`)

// table returns the lines with single spaces between columns, and no number in
// the column of the age.
func table(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = age.ReplaceAllString(strings.Join(strings.Fields(line), " "), "AGE")
	}
	return strings.Join(lines, "\n")
}

func expectJSON(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(jsonOf(t, want), jsonOf(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

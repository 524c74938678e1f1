// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/fivespot/fivespot/api/contract"
)

// What a Go provider publishes with the status block is what a reader sees.
func TestStatusAsReadersSeeIt(t *testing.T) {
	tests := map[string]struct {
		status contract.Status
		want   contract.State
	}{
		"not looked at yet": {contract.Status{}, contract.Unresolved},
		"active":            {contract.Status{Active: new(true)}, contract.Active},
		"inactive is written, not left out": {
			contract.Status{Active: new(false)}, contract.Inactive,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(test.status)
			if err != nil {
				t.Fatal(err)
			}
			if got := contract.Read(decode(t, string(text))); got.State != test.want {
				t.Errorf("%s reads as %v, want %v", text, got.State, test.want)
			}
		})
	}
}

func TestUnresolvedBecause(t *testing.T) {
	for _, reason := range []string{contract.ReasonProviderCRDNotInstalled, contract.ReasonProviderNotFound} {
		verdict := contract.UnresolvedBecause(reason, "no %s", "luck")
		if verdict.Resolved() || verdict.Reason != reason || verdict.Message != "no luck" {
			t.Errorf("%s: %+v", reason, verdict)
		}
	}
	if (contract.Verdict{}).Resolved() {
		t.Error("the zero verdict is resolved")
	}
}

func TestStateNames(t *testing.T) {
	tests := map[contract.State]string{
		contract.Active: "Active", contract.Inactive: "Inactive", contract.Unresolved: "Unresolved", 9: "State(9)",
	}
	for state, want := range tests {
		if got := state.String(); got != want {
			t.Errorf("state %d is called %q, want %q", int(state), got, want)
		}
	}
}

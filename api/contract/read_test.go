// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/fivespot/fivespot/api/contract"
)

func TestRead(t *testing.T) {
	active := contract.Verdict{State: contract.Active, Reason: contract.ReasonResolved, Message: "status.active is true"}
	inactive := contract.Verdict{State: contract.Inactive, Reason: contract.ReasonResolved, Message: "status.active is false"}
	missing := func(message string) contract.Verdict {
		return contract.Verdict{Reason: contract.ReasonStatusActiveMissing, Message: message}
	}
	notReady := func(message string) contract.Verdict {
		return contract.Verdict{Reason: contract.ReasonProviderNotReady, Message: message}
	}

	tests := map[string]struct {
		status string // JSON; "" for an object without a status
		want   contract.Verdict
	}{
		"active true":  {`{"active": true}`, active},
		"active false": {`{"active": false}`, inactive},

		"no status at all":           {``, missing("the object has no status yet")},
		"status is null":             {`null`, missing("the object has no status yet")},
		"status is a list":           {`[{"active": true}]`, missing("the object has no status yet")},
		"status is a boolean":        {`true`, missing("the object has no status yet")},
		"status is empty":            {`{}`, missing("status.active is missing")},
		"active is missing":          {`{"observedGeneration": 1}`, missing("status.active is missing")},
		"active is null":             {`{"active": null}`, missing("status.active is missing")},
		"active is a string":         {`{"active": "true"}`, missing("status.active is not a boolean but a string")},
		"active is an integer":       {`{"active": 1}`, missing("status.active is not a boolean but a number")},
		"active is a fraction":       {`{"active": 1.5}`, missing("status.active is not a boolean but a number")},
		"active is a list":           {`{"active": [true]}`, missing("status.active is not a boolean but a list")},
		"active is an object":        {`{"active": {"value": true}}`, missing("status.active is not a boolean but an object")},
		"active in another spelling": {`{"Active": true}`, missing("status.active is missing")},
		"active is missing and not ready": {
			`{"conditions": [{"type": "Ready", "status": "False"}]}`, missing("status.active is missing"),
		},

		"conditions null":                  {`{"active": true, "conditions": null}`, active},
		"conditions empty":                 {`{"active": true, "conditions": []}`, active},
		"conditions without Ready":         {`{"active": true, "conditions": [{"type": "Synced", "status": "False"}]}`, active},
		"a condition without a type":       {`{"active": true, "conditions": [{"status": "False"}]}`, active},
		"a condition whose type is odd":    {`{"active": true, "conditions": [{"type": {"a": 1}, "status": "False"}]}`, active},
		"Ready True":                       {`{"active": true, "conditions": [{"type": "Ready", "status": "True"}]}`, active},
		"Ready True and inactive":          {`{"active": false, "conditions": [{"type": "Ready", "status": "True"}]}`, inactive},
		"two Ready, both True":             {`{"active": true, "conditions": [{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "True"}]}`, active},
		"Ready in another spelling":        {`{"active": true, "conditions": [{"type": "ready", "status": "False"}]}`, active},
		"fields that are not the contract": {`{"active": true, "phase": 7, "lastTransitionTime": {}}`, active},

		"Ready False": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "False", "reason": "FeedDown", "message": "no answer since 09:00"}]}`,
			notReady("the provider's Ready condition is not True: FeedDown: no answer since 09:00"),
		},
		"Ready False and inactive": {
			`{"active": false, "conditions": [{"type": "Ready", "status": "False"}]}`,
			notReady("the provider's Ready condition is not True"),
		},
		"Ready Unknown":          {`{"active": true, "conditions": [{"type": "Ready", "status": "Unknown"}]}`, notReady("the provider's Ready condition is not True")},
		"Ready without a status": {`{"active": true, "conditions": [{"type": "Ready"}]}`, notReady("the provider's Ready condition is not True")},
		"Ready is a boolean":     {`{"active": true, "conditions": [{"type": "Ready", "status": true}]}`, notReady("the provider's Ready condition is not True")},
		"Ready is lower case":    {`{"active": true, "conditions": [{"type": "Ready", "status": "true"}]}`, notReady("the provider's Ready condition is not True")},
		"Ready is padded":        {`{"active": true, "conditions": [{"type": "Ready", "status": "True "}]}`, notReady("the provider's Ready condition is not True")},
		"Ready with an odd reason": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "False", "reason": 4, "message": null}]}`,
			notReady("the provider's Ready condition is not True"),
		},
		"two Ready, True then False": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False", "reason": "Second"}]}`,
			notReady("the provider's Ready condition is not True: Second"),
		},
		"two Ready, False then True": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "False", "reason": "First"}, {"type": "Ready", "status": "True"}]}`,
			notReady("the provider's Ready condition is not True: First"),
		},
		"conditions as a map": {
			`{"active": true, "conditions": {"Ready": "True"}}`, notReady("status.conditions is not a list but an object"),
		},
		"conditions as a string": {
			`{"active": true, "conditions": "Ready"}`, notReady("status.conditions is not a list but a string"),
		},
		"conditions false": {
			`{"active": true, "conditions": false}`, notReady("status.conditions is not a list but a boolean"),
		},
		"conditions as a list of strings": {
			`{"active": true, "conditions": ["Ready"]}`, notReady("status.conditions holds a string where an object is due"),
		},
		"conditions with a null entry": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "True"}, null]}`,
			notReady("status.conditions holds null where an object is due"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := contract.Read(decode(t, test.status))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("verdict on %s (-want +got):\n%s", test.status, diff)
			}
		})
	}
}

// The odd shapes that third-party providers were seen to publish.
func TestReadOddStatusShapes(t *testing.T) {
	tests := map[string]struct {
		status     string
		wantState  contract.State
		wantReason string
	}{
		"a: active is the string true": {`{"active": "true"}`, contract.Unresolved, contract.ReasonStatusActiveMissing},
		"b: active is 1":               {`{"active": 1}`, contract.Unresolved, contract.ReasonStatusActiveMissing},
		"c: active is null":            {`{"active": null}`, contract.Unresolved, contract.ReasonStatusActiveMissing},
		"d: no status":                 {``, contract.Unresolved, contract.ReasonStatusActiveMissing},
		"e: conditions null":           {`{"active": true, "conditions": null}`, contract.Active, contract.ReasonResolved},
		"f: conditions empty":          {`{"active": true, "conditions": []}`, contract.Active, contract.ReasonResolved},
		"g: Ready twice, True then False": {
			`{"active": true, "conditions": [{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False"}]}`,
			contract.Unresolved, contract.ReasonProviderNotReady,
		},
		"h: conditions as a map": {
			`{"active": true, "conditions": {"Ready": {"status": "True"}}}`, contract.Unresolved, contract.ReasonProviderNotReady,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := contract.Read(decode(t, test.status))
			if got.State != test.wantState || got.Reason != test.wantReason {
				t.Errorf("verdict on %s: %v %s, want %v %s", test.status, got.State, got.Reason, test.wantState, test.wantReason)
			}
			if got.Message == "" {
				t.Error("the verdict says nothing in words")
			}
		})
	}
}

// A provider's text is quoted in a condition of ours, whose length the API
// server bounds; whatever the provider wrote, the quote fits and is UTF-8.
func TestReadBoundsWhatItQuotes(t *testing.T) {
	tests := map[string]string{
		"one byte per character":       strings.Repeat("x", 40000),
		"three bytes per character":    strings.Repeat("€", 40000),
		"cut in the midst of a letter": "x" + strings.Repeat("é", 40000),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			got := contract.Read(map[string]any{"active": true, "conditions": []any{
				map[string]any{"type": "Ready", "status": "False", "reason": text, "message": text},
			}})
			if got.Reason != contract.ReasonProviderNotReady {
				t.Fatalf("reason %q, want %q", got.Reason, contract.ReasonProviderNotReady)
			}
			if len(got.Message) > 4096 {
				t.Errorf("the message has %d bytes", len(got.Message))
			}
			if !utf8.ValidString(got.Message) {
				t.Error("the message is not UTF-8")
			}
			if !strings.HasSuffix(got.Message, "…") {
				t.Errorf("the message does not show that it was cut: …%q", got.Message[len(got.Message)-20:])
			}
		})
	}
}

// decode decodes JSON as a client of the API server does.
func decode(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var value any
	if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	return value
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`null`, `{}`, `true`, `[]`, `{"active": true}`, `{"active": false}`, `{"active": "true"}`, `{"active": 1}`,
		`{"active": true, "active": 1}`, `{"active": true, "conditions": null}`, `{"active": true, "conditions": []}`,
		`{"active": true, "conditions": {}}`, `{"active": true, "conditions": [null]}`, `{"active": true, "conditions": [7]}`,
		`{"active": true, "conditions": [{"type": "Ready", "status": "True"}]}`,
		`{"active": true, "conditions": [{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False"}]}`,
		`{"active": true, "conditions": [{"type": "Ready", "status": true}]}`,
		`{"active": true, "conditions": [{"type": "Ready"}]}`,
		`{"active": true, "conditions": [{"type": ["Ready"], "status": {}}]}`,
		`{"active": true, "conditions": [[{"type": "Ready", "status": "True"}]]}`,
		`{"active": true, "conditions": [{"type": "Ready", "status": "\ud800", "reason": "\u0000"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var status any
		if err := utiljson.Unmarshal(text, &status); err != nil {
			return
		}
		got := contract.Read(status)

		if want := stateByBytes(text); got.State != want {
			t.Errorf("%s reads as %v, want %v", text, got.State, want)
		}
		if got.Resolved() != (got.Reason == contract.ReasonResolved) {
			t.Errorf("%s: state %v beside reason %q", text, got.State, got.Reason)
		}
		if got.Message == "" || len(got.Message) > 4096 || !utf8.ValidString(got.Message) {
			t.Errorf("%s: message %q", text, got.Message)
		}
	})
}

// stateByBytes is the table of the contract once more, from the bytes of the
// JSON instead of its decoded values.
func stateByBytes(text []byte) contract.State {
	var status struct{ fields map[string]json.RawMessage }
	if json.Unmarshal(text, &status.fields) != nil {
		return contract.Unresolved
	}
	active := string(status.fields["active"])
	if active != "true" && active != "false" {
		return contract.Unresolved
	}
	if conditions, present := status.fields["conditions"]; present && !readyByBytes(conditions) {
		return contract.Unresolved
	}
	if active == "true" {
		return contract.Active
	}
	return contract.Inactive
}

// readyByBytes says whether nothing in the conditions forbids to trust active.
func readyByBytes(conditions json.RawMessage) bool {
	var entries []json.RawMessage // stays empty for null
	if json.Unmarshal(conditions, &entries) != nil {
		return false
	}
	for _, entry := range entries {
		var fields map[string]json.RawMessage // stays nil for null
		if json.Unmarshal(entry, &fields) != nil || fields == nil {
			return false
		}
		var kind, status string
		isReady := json.Unmarshal(fields["type"], &kind) == nil && kind == "Ready"
		isTrue := json.Unmarshal(fields["status"], &status) == nil && status == "True"
		if isReady && !isTrue {
			return false
		}
	}
	return true
}

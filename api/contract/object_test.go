// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/fivespot/fivespot/api/contract"
)

func TestReadObject(t *testing.T) {
	tests := map[string]struct {
		object         string
		wantState      contract.State
		wantGeneration int64
		wantObserved   *int64
		wantStale      bool
		wantNext       string // RFC 3339; "" for unknown
	}{
		"a full status": {
			object: `{"metadata": {"generation": 4}, "spec": {"enabled": false}, "status": {
				"active": true, "observedGeneration": 4, "nextTransitionTime": "2026-06-15T20:00:00Z"}}`,
			wantState: contract.Active, wantGeneration: 4, wantObserved: new(int64(4)), wantNext: "2026-06-15T20:00:00Z",
		},
		"an older generation is stale and still counts": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": true, "observedGeneration": 4}}`,
			wantState: contract.Active, wantGeneration: 5, wantObserved: new(int64(4)), wantStale: true,
		},
		"a newer generation is not stale": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": false, "observedGeneration": 6}}`,
			wantState: contract.Inactive, wantGeneration: 5, wantObserved: new(int64(6)),
		},
		"no observedGeneration is not stale": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": false}}`,
			wantState: contract.Inactive, wantGeneration: 5,
		},
		"observedGeneration null": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": false, "observedGeneration": null}}`,
			wantState: contract.Inactive, wantGeneration: 5,
		},
		"observedGeneration written with a fraction of zero": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": true, "observedGeneration": 4.0}}`,
			wantState: contract.Active, wantGeneration: 5, wantObserved: new(int64(4)), wantStale: true,
		},
		"observedGeneration with a fraction": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": true, "observedGeneration": 4.5}}`,
			wantState: contract.Active, wantGeneration: 5,
		},
		"observedGeneration beyond an int64": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": true, "observedGeneration": 1e300}}`,
			wantState: contract.Active, wantGeneration: 5,
		},
		"observedGeneration as a string": {
			object:    `{"metadata": {"generation": 5}, "status": {"active": true, "observedGeneration": "4"}}`,
			wantState: contract.Active, wantGeneration: 5,
		},
		"stale without a verdict": {
			object:    `{"metadata": {"generation": 5}, "status": {"observedGeneration": 4}}`,
			wantState: contract.Unresolved, wantGeneration: 5, wantObserved: new(int64(4)), wantStale: true,
		},
		"nextTransitionTime in a local offset": {
			object:    `{"status": {"active": true, "nextTransitionTime": "2026-06-15T16:00:00-04:00"}}`,
			wantState: contract.Active, wantNext: "2026-06-15T20:00:00Z",
		},
		"nextTransitionTime without a zone is ignored": {
			object:    `{"status": {"active": true, "nextTransitionTime": "2026-06-15T20:00:00"}}`,
			wantState: contract.Active,
		},
		"nextTransitionTime of an impossible date is ignored": {
			object:    `{"status": {"active": true, "nextTransitionTime": "2026-02-30T20:00:00Z"}}`,
			wantState: contract.Active,
		},
		"nextTransitionTime in words is ignored": {
			object:    `{"status": {"active": true, "nextTransitionTime": "tomorrow"}}`,
			wantState: contract.Active,
		},
		"nextTransitionTime as a number is ignored": {
			object:    `{"status": {"active": true, "nextTransitionTime": 1781553600}}`,
			wantState: contract.Active,
		},
		"status as a string": {
			object:    `{"metadata": {"generation": 2}, "status": "active"}`,
			wantState: contract.Unresolved, wantGeneration: 2,
		},
		"an empty object":               {object: `{}`, wantState: contract.Unresolved},
		"metadata of a wrong type":      {object: `{"metadata": 7, "status": {"active": true}}`, wantState: contract.Active},
		"a spec is not looked at":       {object: `{"spec": {"active": true}}`, wantState: contract.Unresolved},
		"an active beside the status":   {object: `{"active": true}`, wantState: contract.Unresolved},
		"a decoded object without JSON": {object: ``, wantState: contract.Unresolved},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if test.object != "" {
				if err := utiljson.Unmarshal([]byte(test.object), &object.Object); err != nil {
					t.Fatalf("decoding the object: %v", err)
				}
			}
			got := contract.ReadObject(object)

			if got.State != test.wantState {
				t.Errorf("state %v (%s), want %v", got.State, got.Message, test.wantState)
			}
			if got.Generation != test.wantGeneration {
				t.Errorf("generation %d, want %d", got.Generation, test.wantGeneration)
			}
			if diff := cmp.Diff(test.wantObserved, got.ObservedGeneration); diff != "" {
				t.Errorf("observed generation (-want +got):\n%s", diff)
			}
			if got.Stale() != test.wantStale {
				t.Errorf("stale is %t, want %t", got.Stale(), test.wantStale)
			}
			if next := format(got.NextTransition); next != test.wantNext {
				t.Errorf("next transition %q, want %q", next, test.wantNext)
			}
		})
	}
}

func format(instant time.Time) string {
	if instant.IsZero() {
		return ""
	}
	return instant.UTC().Format(time.RFC3339)
}

func FuzzReadObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"metadata": null, "status": null}`, `{"metadata": {"generation": "1"}, "status": {"active": true}}`,
		`{"status": {"active": true, "observedGeneration": -9223372036854775808, "nextTransitionTime": "0000-01-01T00:00:00Z"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(text, &object.Object); err != nil {
			return
		}
		reading := contract.ReadObject(object)
		if want := contract.Read(object.Object["status"]); reading.Verdict != want {
			t.Errorf("%s: verdict %+v differs from that of its status, %+v", text, reading.Verdict, want)
		}
		if reading.Stale() && reading.ObservedGeneration == nil {
			t.Errorf("%s: stale without an observed generation", text)
		}
	})
}

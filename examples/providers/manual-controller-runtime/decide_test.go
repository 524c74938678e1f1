// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// now is when every test decides; before is when the statuses were written.
var now = time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC)

const (
	before = `"2026-01-02T03:04:05Z"`
	asOf   = `"2026-03-29T01:30:00Z"`

	readySince    = `{"type": "Ready", "status": "True", "reason": "Reconciled", "message": "manual toggle applied", "lastTransitionTime": `
	notReadySince = `{"type": "Ready", "status": "False", "reason": "InvalidSpec",
		"message": "spec.enabled is missing: set it to true or to false", "lastTransitionTime": `
	audited = `{"type": "Audited", "status": "True"}`
)

func TestDecide(t *testing.T) {
	tests := map[string]struct{ spec, status, want string }{
		"a new object that is on": {
			spec:   `{"enabled": true}`,
			status: `{}`,
			want:   `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + asOf + `, "conditions": [` + readySince + asOf + `}]}`,
		},
		"a new object that is off": {
			spec:   `{"enabled": false}`,
			status: `{}`,
			want:   `{"active": false, "observedGeneration": 7, "lastTransitionTime": ` + asOf + `, "conditions": [` + readySince + asOf + `}]}`,
		},
		"a flip moves its own time only": {
			spec:   `{"enabled": false}`,
			status: `{"active": true, "observedGeneration": 6, "lastTransitionTime": ` + before + `, "conditions": [` + readySince + before + `}]}`,
			want:   `{"active": false, "observedGeneration": 7, "lastTransitionTime": ` + asOf + `, "conditions": [` + readySince + before + `}]}`,
		},
		"another edit moves no time": {
			spec:   `{"enabled": true, "reason": "release night"}`,
			status: `{"active": true, "observedGeneration": 6, "lastTransitionTime": ` + before + `, "conditions": [` + readySince + before + `}]}`,
			want:   `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `, "conditions": [` + readySince + before + `}]}`,
		},
		"what others wrote stays in its place": {
			spec: `{"enabled": true}`,
			status: `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `, "approvedBy": "ann",
				"conditions": [` + audited + `, ` + readySince + before + `}]}`,
			want: `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `, "approvedBy": "ann",
				"conditions": [` + audited + `, ` + readySince + before + `}]}`,
		},
		"of two Ready conditions one stays": {
			spec: `{"enabled": true}`,
			status: `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `,
				"conditions": [` + readySince + before + `}, ` + audited + `, ` + notReadySince + before + `}]}`,
			want: `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `,
				"conditions": [` + readySince + before + `}, ` + audited + `]}`,
		},
		"a spec that says nothing keeps what was decided, and is not to be trusted": {
			spec:   `{}`,
			status: `{"active": true, "observedGeneration": 6, "lastTransitionTime": ` + before + `, "conditions": [` + readySince + before + `}]}`,
			want:   `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `, "conditions": [` + notReadySince + asOf + `}]}`,
		},
		"a new object whose spec says nothing has no decision": {
			spec:   `null`,
			status: `{}`,
			want:   `{"observedGeneration": 7, "conditions": [` + notReadySince + asOf + `}]}`,
		},
		"a spec that is repaired": {
			spec:   `{"enabled": true}`,
			status: `{"active": true, "observedGeneration": 6, "lastTransitionTime": ` + before + `, "conditions": [` + notReadySince + before + `}]}`,
			want:   `{"active": true, "observedGeneration": 7, "lastTransitionTime": ` + before + `, "conditions": [` + readySince + asOf + `}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			schedule := &unstructured.Unstructured{Object: map[string]any{
				"spec": decode(t, test.spec), "status": decode(t, test.status),
			}}
			schedule.SetGeneration(7)
			if err := decide(schedule, now); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, test.want), schedule.Object["status"]); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}

			decided := schedule.DeepCopy()
			if err := decide(schedule, now.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decided, schedule); diff != "" {
				t.Errorf("deciding again changed it (-first +second):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

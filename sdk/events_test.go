// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestOnlyTheEchoOfOurOwnWriteIsPassedOver(t *testing.T) {
	const (
		before = `{metadata: {uid: a, resourceVersion: "1", generation: 1, labels: {x: y}}, spec: {high: true}}`
		ours   = `{active: true, observedGeneration: 1}`
	)
	tests := []struct {
		name, after string
		want        bool
	}{
		{
			"our own write",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			false,
		},
		{
			"what the server kept of our own write",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}}, status: {active: true}}`,
			false,
		},
		{
			"somebody else's verdict",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}}, status: {active: false, observedGeneration: 1}}`,
			true,
		},
		{
			"the status taken away",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}}}`,
			true,
		},
		{
			"an edit",
			`{metadata: {uid: a, resourceVersion: "2", generation: 2, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
		{
			"a label",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: z}}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
		{
			"an annotation",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}, annotations: {a: b}}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
		{
			"a deletion that a finalizer holds up",
			`{metadata: {uid: a, resourceVersion: "2", generation: 1, labels: {x: y}, deletionTimestamp: "2026-06-15T12:00:00Z"}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
		{
			"another object of the same name",
			`{metadata: {uid: b, resourceVersion: "2", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
		{
			"a resync",
			`{metadata: {uid: a, resourceVersion: "1", generation: 1, labels: {x: y}}, status: {active: true, observedGeneration: 1}}`,
			true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			written := newMemory()
			old := &unstructured.Unstructured{Object: parse(t, before)}
			written.sending(old, parse(t, ours))
			stored := old.DeepCopy()
			stored.Object["status"] = parse(t, `{active: true}`)
			written.stored(stored)
			got := worthLooking(written).Update(event.TypedUpdateEvent[*unstructured.Unstructured]{
				ObjectOld: old,
				ObjectNew: &unstructured.Unstructured{Object: parse(t, test.after)},
			})
			if got != test.want {
				t.Errorf("looked at: %t, want %t", got, test.want)
			}
		})
	}
}

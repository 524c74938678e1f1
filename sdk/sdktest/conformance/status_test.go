// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
)

// objectWith makes an object with this status.
func objectWith(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{metadata: {generation: 3}, status: "+status+"}"), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFormOfReady(t *testing.T) {
	const when = `lastTransitionTime: "2026-01-02T03:04:05Z"`
	tests := map[string]struct{ status, want string }{
		"well formed":          {`{conditions: [{type: Ready, status: "True", reason: Reconciled, message: "", ` + when + `}]}`, ""},
		"beside another":       {`{conditions: [{type: Audited}, {type: Ready, status: Unknown, reason: FeedDown, message: m, ` + when + `}]}`, ""},
		"absent":               {`{}`, "there are 0 conditions of type Ready"},
		"twice":                {`{conditions: [{type: Ready}, {type: Ready}]}`, "there are 2 conditions of type Ready"},
		"in no list":           {`{conditions: {type: Ready}}`, "status.conditions is an object"},
		"beside no object":     {`{conditions: [ready]}`, `status.conditions[0] is the string "ready"`},
		"with a boolean":       {`{conditions: [{type: Ready, status: true}]}`, `its status is the boolean true, not "True", "False" or "Unknown"`},
		"in lower case":        {`{conditions: [{type: Ready, status: "true"}]}`, `its status is the string "true", not "True", "False" or "Unknown"`},
		"without a reason":     {`{conditions: [{type: Ready, status: "True"}]}`, "its reason is absent, not one word in CamelCase"},
		"with a sentence":      {`{conditions: [{type: Ready, status: "True", reason: It is fine}]}`, `its reason is the string "It is fine", not one word in CamelCase`},
		"without a message":    {`{conditions: [{type: Ready, status: "True", reason: Fine}]}`, "its message is absent"},
		"without a time":       {`{conditions: [{type: Ready, status: "True", reason: Fine, message: m}]}`, "its lastTransitionTime is absent"},
		"with a time of other": {`{conditions: [{type: Ready, status: "True", reason: Fine, message: m, lastTransitionTime: yesterday}]}`, `its lastTransitionTime is "yesterday", not an RFC 3339 time`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := text(wellFormedReady(objectWith(t, test.status))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestActive(t *testing.T) {
	tests := []struct{ status, want string }{
		{`{active: true}`, ""},
		{`{active: false}`, "status.active is false"},
		{`{active: "true"}`, `status.active is the string "true"`},
		{`{active: 1}`, "status.active is the number 1"},
		{`{active: [true]}`, "status.active is a list"},
		{`{active: null}`, "status.active is absent"},
		{`null`, "status.active is absent"},
	}
	for _, test := range tests {
		if got := text(activeIs(objectWith(t, test.status), true)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.status, got, test.want)
		}
	}
}

func TestWhenReadyIsNotTrue(t *testing.T) {
	tests := []struct{ status, want string }{
		{`{conditions: [{type: Ready, status: "False"}]}`, ""},
		{`{conditions: [{type: Ready, status: Unknown}]}`, ""},
		{`{conditions: [{type: Ready, status: "True"}]}`, "the Ready condition is still True"},
		{`{conditions: [{type: Stalled, status: "True"}]}`, "there is no Ready condition"},
		{`{active: true}`, "there is no Ready condition"},
	}
	for _, test := range tests {
		if got := text(notReady(objectWith(t, test.status))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.status, got, test.want)
		}
	}
}

func TestObservedGeneration(t *testing.T) {
	for generation, want := range map[any]string{
		int64(3): "",
		int64(2): "status.observedGeneration is 2 and metadata.generation is 3",
		"3":      `status.observedGeneration is the string "3"`,
		nil:      "status.observedGeneration is absent",
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"observedGeneration": generation}}}
		object.SetGeneration(3)
		if got := text(generationObserved(object)); got != want {
			t.Errorf("%v: got %q, want %q", generation, got, want)
		}
	}
}

func TestWhatAReaderSays(t *testing.T) {
	if got := text(readsAs(objectWith(t, `{active: true}`), contract.Active)); got != "" {
		t.Errorf("got %q", got)
	}
	const want = "a reader takes it as Unresolved: the provider's Ready condition is not True: FeedDown"
	held := objectWith(t, `{active: true, conditions: [{type: Ready, status: "False", reason: FeedDown}]}`)
	if got := text(readsAs(held, contract.Active)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheValuesOfASecretAreTakenOutOfTexts(t *testing.T) {
	encode := func(value string) any { return base64.StdEncoding.EncodeToString([]byte(value)) }
	secret := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{
		"token": encode("s3cret/token=="),
		"long":  encode("s3cret/token==and-more\n"), // as an editor leaves it
		"short": encode("on"),
	}}}
	another := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"longest": encode("s3cret/token==and-more-yet")}}}
	values := withSecretValues(withSecretValues(nil, secret), another)
	inBase64 := encode("s3cret/token==").(string)
	tests := []struct{ text, want string }{
		{"Get https://tide.example.com: 401", "Get https://tide.example.com: 401"},
		{"Authorization: Bearer s3cret/token==", "Authorization: Bearer [redacted]"},
		{"Get https://tide.example.com?key=s3cret%2Ftoken%3D%3D: 401", "Get https://tide.example.com?key=[redacted]: 401"},
		{"Get https://u:s3cret%2Ftoken==@tide.example.com: refused", "Get https://u:[redacted]@tide.example.com: refused"},
		{"s3cret/token==and-more and s3cret/token==", "[redacted] and [redacted]"},
		{"s3cret/token==and-more-yet of another Secret", "[redacted] of another Secret"},
		{"in base64: " + inBase64, "in base64: [redacted]"},
		{"the toggle is on", "the toggle is on"},
		{"all but the last character, s3cret/token=", "all but the last character, s3cret/token="},
	}
	for _, test := range tests {
		if got := redacted(test.text, values); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.text, got, test.want)
		}
	}
	if values := withSecretValues(nil, &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"odd": 7, "bad": "%"}}}); len(values) > 0 {
		t.Errorf("values of a Secret that is none: %q", values)
	}
}

func TestAnErrorThatQuotesASecretKeepsItsType(t *testing.T) {
	err := redactError(NotReady("Refused", errors.New("token hunter22 is unknown")), []string{"hunter22"})
	if notReady := (*NotReadyError)(nil); !errors.As(err, &notReady) || notReady.Reason != "Refused" {
		t.Errorf("%#v is not what it was", err)
	}
	if text := err.Error(); strings.Contains(text, "hunter22") {
		t.Errorf("it says %q", text)
	}
}

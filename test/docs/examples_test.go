// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"strings"
	"testing"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// Whole objects in the documentation have the fields that our types have.
func TestExamplesHaveKnownFields(t *testing.T) {
	kinds := map[string]func() any{
		"ScheduledMachine":       func() any { return new(v1beta1.ScheduledMachine) },
		"ManualSchedule":         func() any { return new(v1alpha1.ManualSchedule) },
		"TimeBasedSpotSchedule":  func() any { return new(v1alpha1.TimeBasedSpotSchedule) },
		"CapitalMarketsSchedule": func() any { return new(v1alpha1.CapitalMarketsSchedule) },
	}
	checked := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			for document := range strings.SplitSeq(b.text, "---\n") {
				var head struct{ Kind string }
				if err := yaml.Unmarshal([]byte(document), &head); err != nil {
					t.Errorf("%s: after %q: %v", p.name, b.before, err)
				}
				if into := kinds[head.Kind]; into != nil {
					checked++
					if err := decodeStrictly(document, into()); err != nil {
						t.Errorf("%s: %s after %q: %v", p.name, head.Kind, b.before, err)
					}
				}
			}
		}
	}
	if checked == 0 {
		t.Error("found no object to check")
	}
}

// decodeStrictly decodes YAML as the API server does, and refuses a field that
// the type does not have.
func decodeStrictly(document string, into any) error {
	text, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return err
	}
	unknown, err := kjson.UnmarshalStrict(text, into)
	return errors.Join(append(unknown, err)...)
}

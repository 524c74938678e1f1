// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestManifests(t *testing.T) {
	for golden, args := range map[string][]string{
		"manifests.yaml": {"--kind", "TideSchedule"},
		"manifests-chosen.yaml": {
			"--kind", "desk-schedule", "--plural", "desks", "--short-name", "dsk", "--version", "v1beta2",
			"--service-account", "trading/desk", "--spec-schema", "testdata/spec.yaml",
		},
	} {
		t.Run(golden, func(t *testing.T) {
			got, err := execute(t, "", newManifestsCommand, args...)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, golden, got)
		})
	}
}

func TestManifestsReadASchemaFromStandardInput(t *testing.T) {
	got, err := execute(t, `{"type": "object", "properties": {"harbour": {"type": "string"}}}`, newManifestsCommand,
		"--kind", "TideSchedule", "--spec-schema", "-")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "harbour:") || strings.Contains(got, "preserve-unknown-fields") {
		t.Errorf("it prints\n%s", got)
	}
}

func TestManifestsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		schema string
		want   string
	}{
		"without a kind":                 {nil, "", "name the kind with --kind"},
		"for a bad name":                 {[]string{"--kind", "tide_schedule"}, "", "is no name of a kind"},
		"for an account that is none":    {[]string{"--kind", "TideSchedule", "--service-account", "tides"}, "", "give NAMESPACE/NAME"},
		"with a schema of no object":     {nil, "type: string", `this is the schema of "string"`},
		"with a schema of another field": {nil, "properties: {spec: {type: object}}", "give the schema of the field spec"},
		"with words that mean nothing":   {nil, "{type: object, property: {}}", `unknown field "property"`},
		"with a part that has no type":   {nil, "{type: object, properties: {harbour: {}}}", "spec.properties[harbour].type"},
		"with what is no YAML":           {nil, "{", "reading"},
		"with a file that is not there":  {[]string{"--kind", "TideSchedule", "--spec-schema", "nowhere.yaml"}, "", "reading the schema of the spec"},
	} {
		t.Run(name, func(t *testing.T) {
			args := test.args
			if test.schema != "" {
				file := filepath.Join(t.TempDir(), "spec.yaml")
				write(t, file, test.schema)
				args = []string{"--kind", "TideSchedule", "--spec-schema", file}
			}
			out, err := execute(t, "", newManifestsCommand, args...)
			checkRefused(t, err, test.want)
			if out != "" {
				t.Errorf("it prints\n%s", out)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
)

// specSchema is the schema of the spec of a kind.
type specSchema struct {
	description string         // of the kind
	properties  map[string]any // of the field spec, an OpenAPI v3 schema
	required    bool           // whether an object without a spec is refused
}

// newDefinition returns the CustomResourceDefinition of a kind. All but the
// names and the spec is what the shipped kinds have: their status is the
// contract's, of which the schema is generated.
func newDefinition(n names, spec specSchema) (*unstructured.Unstructured, error) {
	shipped, err := shippedKinds()
	if err != nil {
		return nil, err
	}
	crd := shipped["ManualSchedule"]
	crd.SetName(n.DefinitionName())
	named := map[string]any{
		"kind": n.Kind, "listKind": n.Kind + "List", "plural": n.Plural, "singular": n.Singular,
	}
	if n.ShortName != "" {
		named["shortNames"] = []any{n.ShortName}
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		return nil, errors.Join(err, fmt.Errorf("the definition of ManualSchedule has %d versions, want one", len(versions)))
	}
	version, _ := versions[0].(map[string]any)
	version["name"] = n.Version
	if err := describe(version, spec); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		return nil, err
	}
	return crd, unstructured.SetNestedMap(crd.Object, named, "spec", "names")
}

// describe puts a spec into the schema of a version.
func describe(version map[string]any, spec specSchema) error {
	fields, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
	if err != nil {
		return err
	}
	fields["description"] = spec.description
	delete(fields, "required")
	if spec.required {
		fields["required"] = []any{"spec"}
	}
	if err := unstructured.SetNestedMap(fields, spec.properties, "properties", "spec"); err != nil {
		return err
	}
	return unstructured.SetNestedMap(version, fields, "schema", "openAPIV3Schema")
}

// shippedKinds returns the definitions of the kinds that 5-Spot ships, by kind:
// those of schedules, and the ScheduledMachine.
func shippedKinds() (map[string]*unstructured.Unstructured, error) {
	files, err := fs.Glob(deploy.FS, "crds/*.yaml")
	if err != nil {
		return nil, err
	}
	found := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := deploy.FS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(text, &crd.Object); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		found[kind] = crd
	}
	return found, nil
}

// shippedNames returns the names of those kinds.
func shippedNames() ([]names, error) {
	shipped, err := shippedKinds()
	if err != nil {
		return nil, err
	}
	var all []names
	for _, kind := range slices.Sorted(maps.Keys(shipped)) {
		crd := shipped[kind]
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		short, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "shortNames")
		n := names{Kind: kind, Plural: plural}
		if len(short) > 0 {
			n.ShortName = short[0]
		}
		all = append(all, n)
	}
	return all, nil
}

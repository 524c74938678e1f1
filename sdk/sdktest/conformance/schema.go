// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// items leads from a list to its entries, in a path.
const items = "[]"

// schemaAt follows a path of field names in the schema of a version. It returns
// the schema there, nil if the path is not declared; kept is whether a value
// there is stored rather than pruned.
func schemaAt(v *apiextensionsv1.CustomResourceDefinitionVersion, path ...string) (found *apiextensionsv1.JSONSchemaProps, kept bool) {
	if v.Schema == nil {
		return nil, false
	}
	at := v.Schema.OpenAPIV3Schema
	for _, field := range path {
		if at == nil {
			return nil, false
		}
		next := below(at, field)
		if next == nil {
			return nil, preserves(at)
		}
		at = next
	}
	return at, at != nil
}

// below returns the schema of a field, or of the entries of a list.
func below(schema *apiextensionsv1.JSONSchemaProps, field string) *apiextensionsv1.JSONSchemaProps {
	if field == items {
		if schema.Items == nil {
			return nil
		}
		return schema.Items.Schema
	}
	if property, declared := schema.Properties[field]; declared {
		return &property
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}

// preserves reports whether fields that a schema does not declare are stored.
func preserves(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields ||
		schema.AdditionalProperties != nil && schema.AdditionalProperties.Allows
}

func activeIsNoBoolean(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	found, _ := schemaAt(v, "status", "active")
	switch {
	case found == nil:
		return "the schema does not declare status.active"
	case found.Type != "boolean":
		return "status.active is declared as " + typeOf(found)
	}
	return ""
}

func activeHasDefault(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	toActive := []string{"status", "active"}
	for at := range len(toActive) + 1 {
		found, _ := schemaAt(v, toActive[:at]...)
		if found != nil && found.Default != nil && holds(found.Default.Raw, toActive[at:]) {
			return fmt.Sprintf("the schema has the default %s at .%s", found.Default.Raw, strings.Join(toActive[:at], "."))
		}
	}
	return ""
}

// holds reports whether a value has something at the path.
func holds(value json.RawMessage, path []string) bool {
	for _, field := range path {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil || fields[field] == nil {
			return false
		}
		value = fields[field]
	}
	return true
}

// pruned says which of the fields is not kept, or is declared as another type.
func pruned(v *apiextensionsv1.CustomResourceDefinitionVersion, want string, path ...string) string {
	found, kept := schemaAt(v, path...)
	name := strings.ReplaceAll(strings.Join(path, "."), "."+items, items)
	switch {
	case !kept:
		return name + " is pruned"
	case found != nil && found.Type != want && !preserves(found) && !found.XIntOrString:
		return fmt.Sprintf("%s is declared as %s, not as %s", name, typeOf(found), want)
	}
	return ""
}

func typeOf(schema *apiextensionsv1.JSONSchemaProps) string {
	if schema.Type == "" {
		return "any type"
	}
	return schema.Type
}

func conditionsPruned(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	if wrong := pruned(v, "array", "status", "conditions"); wrong != "" {
		return wrong
	}
	var all []string
	for _, field := range []string{"type", "status", "reason", "message", "lastTransitionTime"} {
		if wrong := pruned(v, "string", "status", "conditions", items, field); wrong != "" {
			all = append(all, wrong)
		}
	}
	return strings.Join(all, ", ")
}

func observedGenerationPruned(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	return pruned(v, "integer", "status", "observedGeneration")
}

func transitionTimePruned(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	return pruned(v, "string", "status", "lastTransitionTime")
}

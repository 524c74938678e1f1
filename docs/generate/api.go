// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const apiHeader = `# API reference

Every kind that is shipped here, field by field. What a field means when it is
absent is in its description; what a schedule's status means to those who follow
it is in [the contract](../contract.md).

A field name that ends in ` + "`[]`" + ` is one item of a list. Items of
` + "`conditions`" + ` are Kubernetes' own ` + "`metav1.Condition`" + `.

`

// apiPage returns the page about the CRDs in a directory.
func apiPage(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_*.yaml"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("%s holds no CRDs (%w)", dir, err)
	}
	var page strings.Builder
	page.WriteString(apiHeader)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		for i := range crd.Spec.Versions {
			writeKind(&page, &crd, &crd.Spec.Versions[i])
		}
	}
	return strings.TrimRight(page.String(), "\n") + "\n", nil
}

func writeKind(page *strings.Builder, crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) {
	schema := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(page, "## %s\n\n%s\n\n", crd.Spec.Names.Kind, oneLine(schema.Description))
	fmt.Fprintf(page, "`%s/%s`, resource `%s`, short name `%s`, %s.\n\n", crd.Spec.Group, version.Name,
		crd.Spec.Names.Plural, strings.Join(crd.Spec.Names.ShortNames, "`, `"), strings.ToLower(string(crd.Spec.Scope)))
	writeRules(page, schema.XValidations)
	page.WriteString("Columns of `kubectl get`:\n\n| Column | Field |\n|---|---|\n")
	for _, column := range version.AdditionalPrinterColumns {
		fmt.Fprintf(page, "| %s | `%s` |\n", column.Name, column.JSONPath)
	}
	for _, part := range []string{"spec", "status"} {
		fmt.Fprintf(page, "\n### %s.%s\n\n| Field | Type | Default | Description and rules |\n|---|---|---|---|\n", crd.Spec.Names.Kind, part)
		top := schema.Properties[part]
		writeFields(page, "", &top)
	}
	page.WriteString("\n")
}

func writeRules(page *strings.Builder, rules apiextensionsv1.ValidationRules) {
	for _, rule := range rules {
		fmt.Fprintf(page, "Rule: %s.\n\n", oneLine(rule.Message))
	}
}

// writeFields writes a row for each field below an object, the required ones first.
func writeFields(page *strings.Builder, prefix string, object *apiextensionsv1.JSONSchemaProps) {
	names := make([]string, 0, len(object.Properties))
	for name := range object.Properties {
		names = append(names, name)
	}
	required := func(name string) int {
		if slices.Contains(object.Required, name) {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(required(a)-required(b), strings.Compare(a, b))
	})
	for _, name := range names {
		field := object.Properties[name]
		path := prefix + name
		fmt.Fprintf(page, "| `%s` | %s | %s | %s |\n", path, typeOf(&field), defaultOf(&field, required(name) == 0), describe(&field))
		switch {
		case name == "conditions":
		case field.Type == "array" && field.Items != nil && field.Items.Schema != nil:
			writeFields(page, path+"[].", field.Items.Schema)
		default:
			writeFields(page, path+".", &field)
		}
	}
}

func typeOf(field *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case field.Type == "array" && field.Items != nil && field.Items.Schema != nil:
		return "list of " + typeOf(field.Items.Schema) + "s"
	case field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(field.AdditionalProperties.Schema) + "s"
	case field.Format != "":
		return field.Type + " (" + field.Format + ")"
	}
	return field.Type
}

func defaultOf(field *apiextensionsv1.JSONSchemaProps, required bool) string {
	switch {
	case required && field.Default == nil:
		return "**required**"
	case field.Default != nil:
		return code(string(field.Default.Raw))
	}
	return ""
}

// describe returns a field's description and what its schema asks for.
func describe(field *apiextensionsv1.JSONSchemaProps) string {
	parts := []string{}
	if text := oneLine(field.Description); text != "" {
		parts = append(parts, text)
	}
	parts = append(parts, limits(field)...)
	if field.Items != nil && field.Items.Schema != nil && len(field.Items.Schema.Properties) == 0 {
		for _, limit := range limits(field.Items.Schema) {
			parts = append(parts, "Each item: "+limit)
		}
	}
	for _, rule := range field.XValidations {
		parts = append(parts, "Rule: "+oneLine(rule.Message)+".")
	}
	return strings.Join(parts, "<br>")
}

func limits(field *apiextensionsv1.JSONSchemaProps) []string {
	var found []string
	add := func(format string, value any) { found = append(found, fmt.Sprintf(format, value)) }
	if len(field.Enum) > 0 {
		values := make([]string, 0, len(field.Enum))
		for _, value := range field.Enum {
			values = append(values, code(strings.Trim(string(value.Raw), `"`)))
		}
		add("One of %s.", strings.Join(values, ", "))
	}
	if text := between(field.Minimum, field.Maximum); text != "" {
		add("Value: %s.", text)
	}
	if text := between(field.MinLength, field.MaxLength); text != "" {
		add("Length: %s.", text)
	}
	if text := between(field.MinItems, field.MaxItems); text != "" {
		add("Items: %s.", text)
	}
	if field.Pattern != "" {
		add("Pattern %s.", code(field.Pattern))
	}
	return found
}

// between returns a range of numbers in words; "" when neither end is set.
func between[N int64 | float64](least, most *N) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf("%v to %v", *least, *most)
	case least != nil:
		return fmt.Sprintf("at least %v", *least)
	case most != nil:
		return fmt.Sprintf("at most %v", *most)
	}
	return ""
}

// code returns text as code in a table's cell.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// oneLine returns text as one line of a table's cell.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(text)
}

// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// checkSchema says why an API server would refuse a schema of a spec: what has
// no meaning there, or is not structural, see
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
func checkSchema(text []byte) error {
	var schema apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict(text, &schema); err != nil {
		return fmt.Errorf("this is no OpenAPI v3 schema: %w", err)
	}
	if schema.Type != "object" {
		return fmt.Errorf("a spec is an object, and this is the schema of %q: give the schema of the field spec, with type: object", schema.Type)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&schema, &internal, nil); err != nil {
		return err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return err
	}
	return structuralschema.ValidateStructural(field.NewPath("spec"), structural).ToAggregate()
}

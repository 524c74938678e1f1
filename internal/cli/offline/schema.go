// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
)

// definition is what an API server holds an object of one kind and version
// against.
type definition struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// definitions holds the CRDs that 5-Spot installs.
var definitions = sync.OnceValues(func() (map[schema.GroupVersionKind]*definition, error) {
	files, err := fs.Glob(deploy.FS, "crds/*_*.yaml")
	if err != nil {
		return nil, err
	}
	all := map[schema.GroupVersionKind]*definition{}
	for _, file := range files {
		text, err := deploy.FS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := addDefinitions(all, text); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return all, nil
})

func addDefinitions(all map[schema.GroupVersionKind]*definition, text []byte) error {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		one, err := newDefinition(version.Schema.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		all[schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}] = one
	}
	return nil
}

func newDefinition(properties *apiextensionsv1.JSONSchemaProps) (*definition, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &definition{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// check returns what an API server would say against an object.
func (d *definition) check(content map[string]any) []Problem {
	object := runtime.DeepCopyJSON(content)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	defaulting.Default(object, d.structural)
	var problems []Problem
	unknown := pruning.PruneWithOptions(object, d.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		problems = append(problems, Problem{Path: path, Text: "there is no such field"})
	}
	errs := validation.ValidateCustomResource(nil, object, d.validator)
	if len(errs) == 0 {
		// As in an API server: rules see only what has the right shape.
		errs, _ = d.rules.Validate(context.Background(), nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, err := range errs {
		problems = append(problems, Problem{Path: err.Field, Text: describe(err)})
	}
	return problems
}

var wrongType = regexp.MustCompile(`must be of type (\w+): "(\w+)"`)

// describe returns the text of an error without its path, which messages from
// schemas repeat.
func describe(err *field.Error) string {
	if match := wrongType.FindStringSubmatch(err.Detail); match != nil {
		text := fmt.Sprintf("is of type %s where %s is due", match[2], match[1])
		if match[1] == "string" {
			text += "; put it in quotes"
		}
		return text
	}
	return strings.ReplaceAll(err.ErrorBody(), err.Field+" in body ", "")
}

// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

func TestExpressionsFitTheSchemas(t *testing.T) {
	checker, versions := newChecker(t)
	for file, policy := range policies(t) {
		rule := &policy.Spec.MatchConstraints.ResourceRules[0]
		resource := schema.GroupResource{Group: rule.APIGroups[0], Resource: rule.Resources[0]}
		rule.APIVersions = versions[resource] // the checker takes "*" for none
		if len(rule.APIVersions) == 0 {
			t.Errorf("%s is about %s, which is not served", file, resource)
		}
		for _, warning := range checker.Check(policy) {
			t.Errorf("%s, %s: %s", file, warning.FieldRef, warning.Warning)
		}

		policy.Spec.Validations[0].Expression = "object.spec.noSuchField == ''"
		if len(checker.Check(policy)) == 0 {
			t.Errorf("%s: a field that does not exist goes unnoticed", file)
		}
	}
}

// policies are those of deploy/admission, by file.
func policies(t *testing.T) map[string]*admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	found := map[string]*admissionregistrationv1.ValidatingAdmissionPolicy{}
	for file, text := range manifests(t, "admission/*-*.yaml") {
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		document, _, _ := strings.Cut(text, "\n---\n") // the binding follows
		if err := yaml.UnmarshalStrict([]byte(document), policy); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		found[file] = policy
	}
	return found
}

func manifests(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../deploy", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("deploy/%s matches nothing (%v)", pattern, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}

// schemas resolves the schemas of CustomResourceDefinitions.
type schemas map[schema.GroupVersionKind]*spec.Schema

// ResolveSchema implements resolver.SchemaResolver.
func (s schemas) ResolveSchema(gvk schema.GroupVersionKind) (*spec.Schema, error) {
	if found := s[gvk]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("%v: %w", gvk, resolver.ErrSchemaNotFound)
}

// newChecker returns a checker that knows deploy/crds, and the versions of each
// resource there.
func newChecker(t *testing.T) (*validating.TypeChecker, map[schema.GroupResource][]string) {
	t.Helper()
	known := schemas{}
	mapper := meta.NewDefaultRESTMapper(nil)
	versions := map[schema.GroupResource][]string{}
	for file, text := range manifests(t, "crds/*_*.yaml") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		resource := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
		for _, version := range crd.Spec.Versions {
			encoded, err := json.Marshal(version.Schema.OpenAPIV3Schema)
			if err != nil {
				t.Fatal(err)
			}
			converted := &spec.Schema{}
			if err := json.Unmarshal(encoded, converted); err != nil {
				t.Fatal(err)
			}
			at := schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}
			known[at.WithKind(crd.Spec.Names.Kind)] = converted
			mapper.AddSpecific(at.WithKind(crd.Spec.Names.Kind), at.WithResource(crd.Spec.Names.Plural),
				at.WithResource(crd.Spec.Names.Singular), meta.RESTScopeNamespace)
			versions[resource] = append(versions[resource], version.Name)
		}
	}
	return &validating.TypeChecker{SchemaResolver: known, RestMapper: mapper}, versions
}

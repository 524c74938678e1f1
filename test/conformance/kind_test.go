// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

var groupVersion = schema.GroupVersion{Group: "spotschedules.5spot.finos.org", Version: "v1alpha1"}

// definition is the CRD of a test's own kind; KIND and PLURAL are filled in.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.spotschedules.5spot.finos.org}
spec:
  group: spotschedules.5spot.finos.org
  scope: Namespaced
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, singular: SINGULAR}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns:
        - {name: Active, type: boolean, jsonPath: .status.active}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              properties:
                mode: {type: string}
            status:
              type: object
              properties:
                active: {type: boolean}
                observedGeneration: {type: integer, format: int64}
                lastTransitionTime: {type: string}
                nextTransitionTime: {type: string}
                conditions:
                  type: array
                  items:
                    type: object
                    properties:
                      type: {type: string}
                      status: {type: string}
                      reason: {type: string}
                      message: {type: string}
                      lastTransitionTime: {type: string}
`

// rights is what the account of a test's own kind is granted.
const rights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: SINGULAR, namespace: 5spot-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: SINGULAR}
rules:
  - apiGroups: [spotschedules.5spot.finos.org]
    resources: [PLURAL]
    verbs: [get, list, watch]
  - apiGroups: [spotschedules.5spot.finos.org]
    resources: [PLURAL/status]
    verbs: [get, update, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: SINGULAR}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: SINGULAR}
subjects:
  - {kind: ServiceAccount, name: SINGULAR, namespace: 5spot-system}
`

// ownKind makes a kind for one test, with an account. Edit changes the CRD,
// grants are further rules of the account's role in YAML, and lacks are verbs to
// take out of it.
func ownKind(t *testing.T, kind string, edit func(map[string]any), grants, lacks string) {
	t.Helper()
	crd := map[string]any{}
	if err := yaml.Unmarshal([]byte(named(definition, kind)), &crd); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(crd)
	}
	text, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	if served(crd) {
		devplanetest.Apply(t, text)
	} else {
		createOnly(t, crd)
	}
	granted := named(rights, kind)
	if lacks != "" {
		granted = strings.ReplaceAll(granted, ", "+lacks+"]", "]")
	}
	if grants != "" {
		granted = strings.Replace(granted, "rules:\n", "rules:\n"+named(grants, kind), 1)
	}
	devplanetest.Apply(t, []byte(granted))
	singular := strings.ToLower(kind)
	devplanetest.AwaitGranted(t, "system:serviceaccount:5spot-system:"+singular,
		authorizationv1.ResourceAttributes{Verb: "get", Group: groupVersion.Group, Resource: singular + "s"})
}

// served reports whether the API server can be waited for.
func served(crd map[string]any) bool {
	names, _, _ := unstructured.NestedStringSlice(crd, "spec", "names", "shortNames")
	return len(names) == 0
}

func createOnly(t *testing.T, crd map[string]any) {
	t.Helper()
	if err := devplanetest.Client(t).Create(t.Context(), &unstructured.Unstructured{Object: crd}); err != nil {
		t.Fatal(err)
	}
}

func named(text, kind string) string {
	singular := strings.ToLower(kind)
	return strings.NewReplacer("SINGULAR", singular, "PLURAL", singular+"s", "KIND", kind).Replace(text)
}

// mode is a sample of a test's own kind.
func mode(kind, mode string) []byte {
	return []byte(named(`
apiVersion: spotschedules.5spot.finos.org/v1alpha1
kind: KIND
metadata: {name: sample}
spec: {mode: "`+mode+`"}
`, kind))
}

// version returns the only version of a CRD, to be edited.
func version(crd map[string]any) map[string]any {
	return crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
}

// at returns the object at a path below another.
func at(object map[string]any, path ...string) map[string]any {
	for _, field := range path {
		object = object[field].(map[string]any)
	}
	return object
}

// statusSchema returns the properties of the status in the schema.
func statusSchema(crd map[string]any) map[string]any {
	return at(version(crd), "schema", "openAPIV3Schema", "properties", "status", "properties")
}

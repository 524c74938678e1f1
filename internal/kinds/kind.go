// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
)

// Kind is an installed custom resource kind: what is worth remembering of its CRD.
type Kind struct {
	schema.GroupKind

	// UID of the CRD: a CRD that was removed and installed again has another one.
	UID types.UID
	// Plural is the name of the kind's resource.
	Plural string
	// Namespaced is false for a cluster-scoped kind.
	Namespaced bool
	// Served lists the served versions, in Kubernetes' order of preference.
	Served []string
	// Storage is the version that objects are stored in, served or not.
	Storage string
}

// Preferred returns the version to read objects at: the storage version, which
// needs no conversion, or the first served one where that is not served.
func (k Kind) Preferred() string {
	if slices.Contains(k.Served, k.Storage) {
		return k.Storage
	}
	return k.Served[0]
}

// Resource returns the resource of the kind at a version.
func (k Kind) Resource(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.Group, Version: version, Resource: k.Plural}
}

func (k Kind) equal(other Kind) bool {
	return k.UID == other.UID && k.Plural == other.Plural && k.Namespaced == other.Namespaced &&
		k.Storage == other.Storage && slices.Equal(k.Served, other.Served)
}

// definition is what the registry's informer keeps of a CRD.
type definition struct {
	metav1.ObjectMeta
	kind Kind
	// usable is false until the API server serves the kind, and once it no
	// longer serves any version of it.
	usable bool
}

// stripDefinition reduces a CRD to a definition.
func stripDefinition(object any) (any, error) {
	crd, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	if kind == "" || plural == "" {
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: no names in its spec", crd.GetName())
	}
	served, storage := versions(crd)
	return &definition{
		ObjectMeta: metav1.ObjectMeta{Name: crd.GetName(), UID: crd.GetUID(), ResourceVersion: crd.GetResourceVersion()},
		kind: Kind{
			GroupKind: schema.GroupKind{Group: group, Kind: kind}, UID: crd.GetUID(),
			Plural: plural, Namespaced: scope == "Namespaced", Served: served, Storage: storage,
		},
		usable: established(crd) && len(served) > 0,
	}, nil
}

func versions(crd *unstructured.Unstructured) (served []string, storage string) {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, entry := range list {
		fields, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		name, _ := fields["name"].(string)
		if fields["served"] == true {
			served = append(served, name)
		}
		if fields["storage"] == true {
			storage = name
		}
	}
	slices.SortFunc(served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return served, storage
}

func established(crd *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, entry := range list {
		if fields, ok := entry.(map[string]any); ok && fields["type"] == "Established" {
			return fields["status"] == "True"
		}
	}
	return false
}

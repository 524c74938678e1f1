// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fivespot/fivespot/api/v1beta1"
)

// AllowedGroups says which API groups the embedded specs may use.
type AllowedGroups struct {
	// Bootstrap lists the groups allowed for spec.bootstrapSpec.
	Bootstrap []string
	// Infrastructure lists the groups allowed for spec.infrastructureSpec.
	Infrastructure []string
}

// DefaultAllowedGroups are Cluster API's own groups and k0smotron's.
var DefaultAllowedGroups = AllowedGroups{
	Bootstrap:      []string{"bootstrap.cluster.x-k8s.io", "k0smotron.io"},
	Infrastructure: []string{"infrastructure.cluster.x-k8s.io", "k0smotron.io"},
}

// reservedPrefixes may not begin a label's or an annotation's key.
var reservedPrefixes = []string{"kubernetes.io/", "k8s.io/", "cluster.x-k8s.io/", "5spot.finos.org/"}

// Validate says what is wrong with the embedded specs, by field path; nil when
// nothing is. Admission refuses the same, so this is the second look.
func Validate(spec *v1beta1.ScheduledMachineSpec, allowed AllowedGroups) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateEmbedded(path.Child("bootstrapSpec"), &spec.BootstrapSpec, allowed.Bootstrap)
	errs = append(errs, validateEmbedded(path.Child("infrastructureSpec"), &spec.InfrastructureSpec, allowed.Infrastructure)...)
	if template := spec.MachineTemplate; template != nil {
		at := path.Child("machineTemplate")
		errs = append(errs, validateKeys(at.Child("labels"), template.Labels)...)
		errs = append(errs, validateKeys(at.Child("annotations"), template.Annotations)...)
	}
	return errs
}

func validateEmbedded(path *field.Path, object *v1beta1.EmbeddedObject, groups []string) field.ErrorList {
	var errs field.ErrorList
	version, err := schema.ParseGroupVersion(object.APIVersion)
	if err != nil || !slices.Contains(groups, version.Group) {
		errs = append(errs, field.NotSupported(path.Child("apiVersion"), object.APIVersion, inEachGroup(groups)))
	}
	metadata := object.Metadata
	if metadata == nil {
		return errs
	}
	at := path.Child("metadata")
	if metadata.Name != "" {
		errs = append(errs, field.Forbidden(at.Child("name"), "the object takes the name of its ScheduledMachine"))
	}
	if metadata.Namespace != "" {
		errs = append(errs, field.Forbidden(at.Child("namespace"), "the object lives in the namespace of its ScheduledMachine"))
	}
	errs = append(errs, validateKeys(at.Child("labels"), metadata.Labels)...)
	return append(errs, validateKeys(at.Child("annotations"), metadata.Annotations)...)
}

func inEachGroup(groups []string) []string {
	all := make([]string, 0, len(groups))
	for _, group := range groups {
		all = append(all, group+"/*")
	}
	return all
}

func validateKeys(path *field.Path, keys map[string]string) field.ErrorList {
	var errs field.ErrorList
	for key := range keys {
		if prefix := reserved(key); prefix != "" {
			errs = append(errs, field.Forbidden(path.Key(key), "the prefix "+prefix+" is reserved"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// reserved returns the reserved prefix that a key has, or "". A subdomain of a
// reserved domain is not reserved: Cluster API hands labels of
// node.cluster.x-k8s.io/ and node-role.kubernetes.io/ down to the Node.
func reserved(key string) string {
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(key, prefix) {
			return prefix
		}
	}
	return ""
}

// Allows reports whether any embedded spec may use the group.
func (a AllowedGroups) Allows(group string) bool {
	return slices.Contains(a.Bootstrap, group) || slices.Contains(a.Infrastructure, group)
}

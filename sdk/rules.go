// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules returns the rights that the account of the provider needs, and all that
// it needs: to read its kind, to write the status of its kind, and to follow the
// objects that [WithReads] declares. A program of several providers needs the
// rules of each. They are the rules of a ClusterRole, since schedules are in the
// namespaces of those who use them.
//
// Objects are followed one at a time, by name, so whoever operates the provider
// may grant less than the rules for them: in some namespaces only (by
// RoleBindings), or for some names only (by resourceNames). A schedule that
// depends on an object outside of that is not ready, for
// [ReasonObjectUnreadable], and says what is missing.
//
// With --leader-elect the account also needs get, create and update on leases of
// coordination.k8s.io in the namespace of the lease, which is a matter of a Role.
func (p *Provider) Rules() []rbacv1.PolicyRule {
	own := p.resource()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{p.kind.Group}, Resources: []string{own}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{p.kind.Group}, Resources: []string{own + "/status"}, Verbs: []string{"get", "update", "patch"}},
	}
	for _, read := range p.declaredResources() {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{read.resource.Group},
			Resources: []string{read.resource.Resource},
			// An object is followed by a watch that begins with a list.
			Verbs:         []string{"list", "watch"},
			ResourceNames: read.names,
		})
	}
	return rules
}

// declaredResources sums up the declared reads: one entry per resource, whatever
// its version, in the order of group and resource.
func (p *Provider) declaredResources() []declaration {
	all := map[schema.GroupResource]bool{}
	named := map[schema.GroupResource][]string{}
	for _, read := range p.options.reads {
		resource := read.resource.GroupResource()
		named[resource] = append(named[resource], read.names...)
		all[resource] = all[resource] || read.names == nil
	}
	var sum []declaration
	for resource, names := range named {
		if all[resource] {
			names = nil
		}
		slices.Sort(names)
		sum = append(sum, declaration{resource: resource.WithVersion(""), names: slices.Compact(names)})
	}
	slices.SortFunc(sum, func(a, b declaration) int {
		return cmp.Or(cmp.Compare(a.resource.Group, b.resource.Group), cmp.Compare(a.resource.Resource, b.resource.Resource))
	})
	return sum
}

// resource returns the plural by which the API server knows the kind.
func (p *Provider) resource() string {
	if p.options.resource != "" {
		return p.options.resource
	}
	return regularPlural(p.kind)
}

// regularPlural returns the plural of a kind as generators of CRDs make it.
func regularPlural(kind schema.GroupVersionKind) string {
	singular := strings.ToLower(kind.Kind)
	for _, ending := range []string{"ay", "ey", "oy", "uy"} {
		if strings.HasSuffix(singular, ending) {
			return singular + "s"
		}
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

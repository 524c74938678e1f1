// SPDX-License-Identifier: Apache-2.0

package providers_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/providers"
)

// What deploy/ grants to a provider's account is what the provider says it needs.
func TestTheShippedRightsAreThoseThatAreNeeded(t *testing.T) {
	granted := shippedRules(t)
	for _, provider := range providers.All() {
		want := provider.Rules()
		resource := want[0].Resources[0]
		if diff := cmp.Diff(want, granted[resource]); diff != "" {
			t.Errorf("rules of %s (-needed +granted):\n%s", provider.Kind().Kind, diff)
		}
		delete(granted, resource)
	}
	for resource := range granted {
		t.Errorf("rules are granted on %s, of which there is no provider", resource)
	}
}

// shippedRules returns the rules of each provider's ClusterRole, by the resource
// of its kind.
func shippedRules(t *testing.T) map[string][]rbacv1.PolicyRule {
	t.Helper()
	files, err := fs.Glob(deploy.FS, "spot-schedule-providers/*/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, file := range files {
		text, err := fs.ReadFile(deploy.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			role := rbacv1.ClusterRole{}
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if role.Kind == "ClusterRole" {
				rules[role.Rules[0].Resources[0]] = role.Rules
			}
		}
	}
	return rules
}

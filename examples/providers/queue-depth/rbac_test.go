// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func TestTheRightsAreThoseThatTheProviderNeeds(t *testing.T) {
	manifest, err := os.ReadFile("deploy/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(manifest), "---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		if diff := cmp.Diff(provider(newClient()).Rules(), role.Rules); diff != "" {
			t.Errorf("(-needed +granted):\n%s", diff)
		}
		return
	}
	t.Error("there is no ClusterRole")
}

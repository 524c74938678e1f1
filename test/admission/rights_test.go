// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// documentedRules are the rules of the Role that docs/admission.md tells an
// administrator to grant.
func documentedRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	return documented[rbacv1.Role](t, "Role").Rules
}

// documented reads the first object of a kind in docs/admission.md.
func documented[T any](t *testing.T, kind string) T {
	t.Helper()
	text, err := os.ReadFile("../../docs/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	var object T
	for block := range strings.SplitSeq(string(text), "```yaml\n") {
		block, _, _ = strings.Cut(block, "```")
		block, _, _ = strings.Cut(block, "---")
		if !strings.Contains(block, "kind: "+kind+"\n") {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(block), &object); err != nil {
			t.Fatalf("reading the %s in docs/admission.md: %v", kind, err)
		}
		return object
	}
	t.Fatalf("docs/admission.md has no %s", kind)
	return object
}

// as returns a client of a user, who is known and has no rights but those granted.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	return devplanetest.ClientFor(t, devplanetest.Plane(t).ImpersonatedConfig(user, "system:authenticated"))
}

func granted(t *testing.T, namespace, user string, rules ...rbacv1.PolicyRule) client.Client {
	t.Helper()
	if err := grant(devplanetest.Context(t), devplanetest.Client(t), namespace, user, rules...); err != nil {
		t.Fatal(err)
	}
	return as(t, user)
}

// withEverything makes use of every right.
const withEverything = `{"spec": {"kubeconfigSecretRef": {"name": "trading-kubeconfig"}, "machineTemplate": {"labels": {"team": "rates"}}}}`

// Who has the rights that the documentation names may do all of it; who lacks
// one may not do what needs that one, and may do the rest.
func TestRequesterRights(t *testing.T) {
	everything := documentedRules(t)
	without := func(resource string) []rbacv1.PolicyRule {
		fewer := slices.DeleteFunc(slices.Clone(everything), func(rule rbacv1.PolicyRule) bool { return rule.Resources[0] == resource })
		if len(fewer) != len(everything)-1 {
			t.Fatalf("the documented Role has no rule of its own for %s", resource)
		}
		return fewer
	}
	var said strings.Builder
	for _, user := range []struct {
		name  string
		rules []rbacv1.PolicyRule
		// needs are the changes that need the right, others those that do not.
		needs, others []string
	}{
		{
			name: "all-rights", rules: everything,
			others: []string{
				`{"spec": {"bootstrapSpec": {"spec": {"verbosity": 3}}, "infrastructureSpec": {"spec": {"a": "b"}}}}`,
				`{"spec": {"machineTemplate": {"labels": {"team": "credit"}}, "version": "v1.37.2"}}`,
				`{"spec": {"kubeconfigSecretRef": {"key": "other"}}}`,
			},
		},
		{
			name: "without-bootstrap", rules: without("kubeadmconfigs"),
			needs: []string{
				`{"spec": {"bootstrapSpec": {"spec": {"verbosity": 3}}}}`,
				`{"spec": {"bootstrapSpec": {"metadata": {"labels": {"team": "rates"}}}}}`,
			},
			others: []string{`{"spec": {"infrastructureSpec": {"spec": {"a": "b"}}, "killSwitch": true, "enabled": false, "gracefulShutdownTimeout": "1m"}}`},
		},
		{
			name: "without-infrastructure", rules: without("devmachines"),
			needs:  []string{`{"spec": {"infrastructureSpec": {"spec": {"a": "b"}}}}`},
			others: []string{`{"spec": {"bootstrapSpec": {"spec": {"verbosity": 3}}, "nodeTaints": [{"key": "a", "effect": "NoSchedule"}]}}`},
		},
		{
			name: "without-machines", rules: without("machines"),
			needs: []string{
				`{"spec": {"machineTemplate": {"labels": {"team": "credit"}}}}`,
				`{"spec": {"version": "v1.37.2"}}`,
			},
			others: []string{`{"spec": {"schedule": {"name": "other"}, "priority": 7, "nodeDrainTimeout": "1m"}}`},
		},
		{
			name: "without-secret", rules: without("secrets"),
			needs: []string{
				`{"spec": {"kubeconfigSecretRef": {"name": "other-kubeconfig"}}}`,
				`{"spec": {"kubeconfigSecretRef": {"key": "other"}}}`,
			},
			others: []string{`{"spec": {"kubeconfigSecretRef": null, "machineTemplate": null}}`},
		},
	} {
		namespace := devplanetest.Namespace(t)
		c := granted(t, namespace, user.name, user.rules...)
		tell := func(what string, err error) {
			fmt.Fprintf(&said, "# %s: %s\n%s\n", user.name, what, strings.ReplaceAll(words(err), namespace, "NAMESPACE"))
		}
		for _, version := range servedVersions(t, "scheduledmachines.5spot.finos.org") {
			object := with(t, smallestMachine, withEverything, namespace, version)
			err := c.Create(t.Context(), object.DeepCopy(), client.DryRunAll)
			if version != laterVersion {
				tell("a new one", err)
			} else if (err == nil) != (len(user.needs) == 0) {
				t.Errorf("%s: a new one at %s: %v", user.name, version, err)
			}
		}
		stored := with(t, smallestMachine, withEverything, namespace, "")
		if err := devplanetest.Client(t).Create(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		for _, change := range user.needs {
			tell(change, patched(t, c, stored, change))
		}
		for _, change := range user.others {
			if err := patched(t, c, stored, change); err != nil {
				t.Errorf("%s: %s: %v", user.name, change, err)
			}
		}
	}
	golden(t, "testdata/rights.golden", said.String())
}

// The default Secret is Cluster API's own: whoever may create a Machine has it
// read by Cluster API as well.
func TestDefaultKubeconfigNeedsNoRight(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	rules := slices.DeleteFunc(documentedRules(t), func(rule rbacv1.PolicyRule) bool { return rule.Resources[0] == "secrets" })
	c := granted(t, namespace, "default-kubeconfig", rules...)
	object := with(t, smallestMachine, spec(`{"nodeTaints": [{"key": "a", "effect": "NoSchedule"}]}`), namespace, "")
	if err := c.Create(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// A right on one Secret is enough, and is one on that Secret alone.
func TestRightOnOneSecret(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	rules := append(
		slices.DeleteFunc(documentedRules(t), func(rule rbacv1.PolicyRule) bool { return rule.Resources[0] == "secrets" }),
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"mine"}, Verbs: []string{"get"}})
	c := granted(t, namespace, "one-secret", rules...)
	refer := func(name string) error {
		return c.Create(t.Context(), with(t, smallestMachine, spec(`{"kubeconfigSecretRef": {"name": %q}}`, name), namespace, ""), client.DryRunAll)
	}
	if err := refer("mine"); err != nil {
		t.Errorf("the Secret that may be read: %v", err)
	}
	if err := refer("theirs"); err == nil || !strings.Contains(err.Error(), `get the Secret "theirs"`) {
		t.Errorf("another Secret: %v, want it refused", err)
	}
}

// Rights in one namespace are of no use in another.
func TestRightsAreOfANamespace(t *testing.T) {
	here, there := devplanetest.Namespace(t), devplanetest.Namespace(t)
	granted(t, here, "of-one-namespace", documentedRules(t)...)
	c := granted(t, there, "of-one-namespace", scheduledMachineRule)
	if err := c.Create(t.Context(), with(t, smallestMachine, `{}`, here, ""), client.DryRunAll); err != nil {
		t.Errorf("where the rights are: %v", err)
	}
	if err := c.Create(t.Context(), with(t, smallestMachine, `{}`, there, ""), client.DryRunAll); err == nil {
		t.Error("it passes in a namespace where there are no rights")
	}
}

// The resource of a kind is named as a CRD for it would be, and as those of
// Cluster API are.
func TestResourceOfAKind(t *testing.T) {
	resources := map[string]string{
		"K0sWorkerConfig": "k0sworkerconfigs", "RKE2Config": "rke2configs", "Metal3Machine": "metal3machines",
		"Gateway": "gateways", "Policy": "policies", "Proxy": "proxies", "Class": "classes", "Ingress": "ingresses",
		"Box": "boxes", "Batch": "batches", "Mesh": "meshes", "Waltz": "waltzes", "Y": "ys", "X": "xes",
	}
	maps.Copy(resources, clusterAPIResources(t))
	namespace := devplanetest.Namespace(t)
	fields := map[string]struct {
		c     client.Client
		group string
	}{
		"bootstrapSpec": {granted(t, namespace, "no-rights", scheduledMachineRule), "bootstrap.cluster.x-k8s.io"},
		"infrastructureSpec": {granted(t, namespace, "bootstrap-rights", scheduledMachineRule, rbacv1.PolicyRule{
			APIGroups: []string{"bootstrap.cluster.x-k8s.io"}, Resources: []string{"kubeadmconfigs"}, Verbs: []string{"create"},
		}), "infrastructure.cluster.x-k8s.io"},
	}
	for field, user := range fields {
		for kind, resource := range resources {
			err := user.c.Create(t.Context(), with(t, smallestMachine, spec(`{%q: {"kind": %q}}`, field, kind), namespace, ""), client.DryRunAll)
			want := "spec." + field + ": the controller creates this object"
			right := "the right to create " + resource + "." + user.group + " in"
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), right) {
				t.Errorf("%s %s: %v, want it refused for want of %s", field, kind, err, right)
			}
		}
	}
}

// clusterAPIResources are the kinds of Cluster API's own bootstrap and
// infrastructure groups, and their resources.
func clusterAPIResources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../bin/capi/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions of Cluster API (%v): run `make build`", err)
	}
	resources := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(crd.Spec.Group, ".cluster.x-k8s.io") {
			resources[crd.Spec.Names.Kind] = crd.Spec.Names.Plural
		}
	}
	return resources
}

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"

	"github.com/fivespot/fivespot/api/contract"
)

// verbs that the API server knows. escalate, bind, impersonate, approve and sign
// belong to few resources, and nobody here has any business with them.
var verbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
	"escalate", "bind", "impersonate", "approve", "sign", "use",
}

func TestNoRoleHasAWildcardVerb(t *testing.T) {
	for _, role := range roles(t) {
		for _, rule := range role.rules {
			if slices.Contains(rule.Verbs, "*") {
				t.Errorf("%s may do anything to %v of %v", role.name, rule.Resources, rule.APIGroups)
			}
			if slices.Contains(rule.APIGroups, "*") || len(rule.NonResourceURLs) > 0 {
				t.Errorf("%s reaches beyond named groups: %v", role.name, rule)
			}
		}
	}
}

// All kinds of a group are meant only where the kinds are not ours to know:
// schedules, to read them, and what a user embeds.
func TestWhereAllKindsOfAGroupAreMeant(t *testing.T) {
	want := []string{
		"5spot-controller: bootstrap.cluster.x-k8s.io", "5spot-controller: controlplane.cluster.x-k8s.io",
		"5spot-controller: infrastructure.cluster.x-k8s.io",
		"5spot-controller: k0smotron.io", "5spot-controller: spotschedules.5spot.finos.org",
	}
	var got []string
	for _, role := range roles(t) {
		for _, rule := range role.rules {
			if slices.Contains(rule.Resources, "*") {
				for _, group := range rule.APIGroups {
					got = append(got, role.name+": "+group)
				}
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles for all kinds of a group (-want +got):\n%s", diff)
	}
}

// A secret, once read, is out. One role reads them, in order to follow
// kubeconfigs, and has no other right, so that it can be bound in a few
// namespaces only.
func TestOneRoleReadsSecretsAndDoesNothingElse(t *testing.T) {
	want := []string{"5spot-controller-kubeconfigs [list watch]"}
	var got []string
	for _, role := range roles(t) {
		for _, rule := range role.rules {
			if slices.Contains(rule.APIGroups, "") && (slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*")) {
				got = append(got, fmt.Sprint(role.name, " ", rule.Verbs))
				if len(role.rules) > 1 || len(rule.Resources) > 1 || len(rule.APIGroups) > 1 {
					t.Errorf("%s has rights on more than secrets", role.name)
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles with rights on secrets (-want +got):\n%s", diff)
	}
}

type role struct {
	name  string
	rules []rbacv1.PolicyRule
}

func roles(t *testing.T) []role {
	t.Helper()
	objects := render(t, ".")
	var all []role
	for _, r := range ofKind[rbacv1.ClusterRole](t, objects, "ClusterRole") {
		all = append(all, role{r.Name, r.Rules})
	}
	for _, r := range ofKind[rbacv1.Role](t, objects, "Role") {
		all = append(all, role{r.Name, r.Rules})
	}
	return all
}

// The manual provider's account, role and binding are the guide's, to the letter.
func TestManualProviderHasTheGuidesRBAC(t *testing.T) {
	text, err := os.ReadFile("testdata/guide-rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shipped := map[string]map[string]any{}
	for _, object := range render(t, "spot-schedule-providers/manual") {
		shipped[named(object)] = object.Object
	}
	documents := strings.Split(string(text), "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("the guide has %d objects, want 3", len(documents))
	}
	for _, document := range documents {
		object := &unstructured.Unstructured{}
		if err := utilyaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object.Object, shipped[named(object)]); diff != "" {
			t.Errorf("%s (-guide +ours):\n%s", named(object), diff)
		}
	}
}

// foreign are resources that a right might reach and that are not installed here.
var foreign = []string{
	"5spot.finos.org scheduledcapacities", "5spot.finos.org scheduledmachines/finalizers", "5spot.finos.org scheduledmachines/scale",
	"spotschedules.5spot.finos.org somebodysschedules", "spotschedules.5spot.finos.org somebodysschedules/status",
	"spotschedules.5spot.finos.org manualschedules/finalizers", "spotschedules.5spot.finos.org manualschedules/scale",
	"cluster.x-k8s.io machines", "cluster.x-k8s.io machines/status", "cluster.x-k8s.io machines/finalizers",
	"cluster.x-k8s.io clusters", "cluster.x-k8s.io clusters/status", "cluster.x-k8s.io machinedeployments",
	"bootstrap.cluster.x-k8s.io kubeadmconfigs", "bootstrap.cluster.x-k8s.io kubeadmconfigs/status",
	"infrastructure.cluster.x-k8s.io devmachines", "infrastructure.cluster.x-k8s.io devmachines/status",
	"controlplane.cluster.x-k8s.io kubeadmcontrolplanes", "k0smotron.io remotemachines",
}

// What each account may do, by asking the API server about every verb on every
// resource, beyond what every account may: a provider what the guide grants it
// on its own kinds, the controller what it uses.
func TestRights(t *testing.T) {
	install(t)
	const elsewhere = "trading"
	resources := append(installedResources(t), foreign...)
	slices.Sort(resources)
	resources = slices.Compact(resources)
	stranger := rights(t, "a-stranger", elsewhere, resources)

	type account struct{ name, in string }
	tests := map[account]map[string][]string{ // verbs by group and resource
		{"5spot-controller", elsewhere}: controllerRights(resources),
		{"5spot-controller", namespace}: with(controllerRights(resources), map[string][]string{
			"coordination.k8s.io leases": {"list", "watch", "create"}, // get and update by name: see the next test
			" events":                    {"create", "patch"},
		}),
	}
	for provider, kinds := range providers(t) {
		tests[account{provider, elsewhere}] = providerRights(t, kinds)
		tests[account{provider, namespace}] = providerRights(t, kinds)
	}
	for account, want := range tests {
		t.Run(account.name+" in "+account.in, func(t *testing.T) {
			got := rights(t, account.name, account.in, resources)
			for resource, common := range stranger {
				got[resource] = slices.DeleteFunc(got[resource], func(verb string) bool { return slices.Contains(common, verb) })
				if len(got[resource]) == 0 {
					delete(got, resource)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
		})
	}
}

// providers are the kinds that each provider's account is for.
func providers(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, c := range containers(t) {
		for _, arg := range c.Args {
			if kinds, yes := strings.CutPrefix(arg, "--kinds="); yes {
				found[c.pod.ServiceAccountName] = strings.Split(kinds, ",")
			}
		}
	}
	if len(found["manual-schedule-provider"]) == 0 {
		t.Fatalf("no Deployment runs the manual provider; there are %v", found)
	}
	return found
}

// providerRights is what the guide grants a provider of these kinds.
func providerRights(t *testing.T, kinds []string) map[string][]string {
	t.Helper()
	want := map[string][]string{}
	for _, kind := range kinds {
		mapping, err := cluster.RESTMapper().RESTMapping(schema.GroupKind{Group: contract.Group, Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		resource := contract.Group + " " + mapping.Resource.Resource
		want[resource] = []string{"get", "list", "watch"}
		want[resource+"/status"] = []string{"get", "update", "patch"}
	}
	return want
}

// controllerRights spells out, for the resources that are asked about, what the
// controller may do to each.
func controllerRights(resources []string) map[string][]string {
	read, follow := []string{"get", "list", "watch"}, []string{"list", "watch"}
	want := map[string][]string{
		"5spot.finos.org scheduledmachines":              append(slices.Clone(read), "patch"),
		"5spot.finos.org scheduledmachines/status":       {"patch"},
		"5spot.finos.org scheduledmachines/finalizers":   {"update"},
		"apiextensions.k8s.io customresourcedefinitions": follow,
		"cluster.x-k8s.io machines":                      append(slices.Clone(read), "create", "patch", "delete"),
		"cluster.x-k8s.io clusters":                      follow,
		"events.k8s.io events":                           {"create", "patch"},
		// Workload clusters.
		" secrets":        follow,
		" nodes":          append(slices.Clone(read), "patch", "delete"),
		" pods":           {"list"},
		" pods/eviction":  {"create"},
		"apps daemonsets": {"get"},
	}
	for _, resource := range resources {
		switch group, _, _ := strings.Cut(resource, " "); group {
		case "spotschedules.5spot.finos.org", "controlplane.cluster.x-k8s.io":
			want[resource] = follow
		case "bootstrap.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "k0smotron.io":
			want[resource] = append(slices.Clone(read), "create", "delete")
		}
	}
	return want
}

func with(base, more map[string][]string) map[string][]string {
	maps.Copy(base, more)
	return base
}

// The fourth of the rules that always hold, said in full.
func TestNobodyWritesWhatIsNotTheirs(t *testing.T) {
	install(t)
	tests := map[string]struct {
		account   string
		resources []string
	}{
		"the controller writes no schedule and no schedule's status": {"5spot-controller", []string{
			"spotschedules.5spot.finos.org manualschedules", "spotschedules.5spot.finos.org manualschedules/status",
			"spotschedules.5spot.finos.org timebasedspotschedules", "spotschedules.5spot.finos.org timebasedspotschedules/status",
			"spotschedules.5spot.finos.org somebodysschedules", "spotschedules.5spot.finos.org somebodysschedules/status",
		}},
		"the provider writes no schedule of another kind, no spec and no ScheduledMachine": {"manual-schedule-provider", []string{
			"spotschedules.5spot.finos.org manualschedules",
			"spotschedules.5spot.finos.org timebasedspotschedules", "spotschedules.5spot.finos.org timebasedspotschedules/status",
			"5spot.finos.org scheduledmachines", "5spot.finos.org scheduledmachines/status", "5spot.finos.org scheduledmachines/finalizers",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, resource := range test.resources {
				for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
					for _, in := range []string{"", "trading", namespace} {
						if allowed(t, test.account, in, resource, verb) {
							t.Errorf("%s may %s %s in namespace %q", test.account, verb, resource, in)
						}
					}
				}
			}
		})
	}
}

// rights lists the verbs that an account may use in a namespace, by resource.
func rights(t *testing.T, account, in string, resources []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, resource := range resources {
		for _, verb := range verbs {
			if allowed(t, account, in, resource, verb) {
				found[resource] = append(found[resource], verb)
			}
		}
	}
	return found
}

// allowed asks the API server whether an account of ours has a right. in is a
// namespace; "" asks for all of them at once.
func allowed(t *testing.T, account, in, resource, verb string) bool {
	t.Helper()
	group, kind, _ := strings.Cut(resource, " ")
	kind, subresource, _ := strings.Cut(kind, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + namespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: in, Verb: verb, Group: group, Resource: kind, Subresource: subresource, Version: "*",
		},
	}}
	if err := cluster.Create(t.Context(), review); err != nil {
		t.Fatalf("asking whether %s may %s %s: %v", account, verb, resource, err)
	}
	if review.Status.EvaluationError != "" {
		t.Fatalf("asking whether %s may %s %s: %s", account, verb, resource, review.Status.EvaluationError)
	}
	return review.Status.Allowed
}

// installedResources lists all that the API server serves, as "group resource".
func installedResources(t *testing.T) []string {
	t.Helper()
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := server.ServerGroupsAndResources()
	if err != nil {
		t.Fatalf("asking what the API server serves: %v", err)
	}
	found := map[string]bool{}
	for _, list := range lists {
		group, _, grouped := strings.Cut(list.GroupVersion, "/")
		if !grouped {
			group = corev1.GroupName
		}
		for _, resource := range list.APIResources {
			found[group+" "+resource.Name] = true
		}
	}
	for _, known := range []string{" secrets", " pods/eviction", "rbac.authorization.k8s.io clusterroles", "5spot.finos.org scheduledmachines/status"} {
		if !found[known] {
			t.Fatalf("the API server does not serve %q", known)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// samples returns the text of the sample manifests, by file name.
func samples(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no samples (%v)", err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = text
	}
	return files
}

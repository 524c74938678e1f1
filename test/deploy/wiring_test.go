// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

const namespace = "5spot-system"

func TestNamespacedObjectsAreInOurNamespace(t *testing.T) {
	inCluster := []string{
		"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	}
	for _, tree := range trees(t) {
		for _, object := range render(t, tree) {
			want := namespace
			if slices.Contains(inCluster, object.GetKind()) {
				want = ""
			}
			if object.GetNamespace() != want {
				t.Errorf("%s is in namespace %q, want %q", named(object), object.GetNamespace(), want)
			}
		}
	}
}

// A Service's name is a DNS label of RFC 1035: it begins with a letter.
func TestServiceNames(t *testing.T) {
	for _, service := range ofKind[corev1.Service](t, render(t, "."), "Service") {
		if faults := validation.IsDNS1035Label(service.Name); len(faults) > 0 {
			t.Errorf("Service %s: %s", service.Name, strings.Join(faults, "; "))
		}
	}
}

// What selects pods selects some, and the ports that it names are theirs.
func TestSelectorsFindPods(t *testing.T) {
	objects := render(t, ".")
	for _, service := range ofKind[corev1.Service](t, objects, "Service") {
		pods := selected(t, "Service "+service.Name, metav1.SetAsLabelSelector(service.Spec.Selector))
		for _, p := range service.Spec.Ports {
			checkPort(t, "Service "+service.Name, p.TargetPort.StrVal, pods)
		}
	}
	for _, policy := range ofKind[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy") {
		pods := selected(t, "NetworkPolicy "+policy.Name, &policy.Spec.PodSelector)
		for _, rule := range policy.Spec.Ingress {
			for _, p := range rule.Ports {
				checkPort(t, "NetworkPolicy "+policy.Name, p.Port.StrVal, pods)
			}
		}
	}
	for _, budget := range ofKind[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget") {
		selected(t, "PodDisruptionBudget "+budget.Name, budget.Spec.Selector)
	}
}

func selected(t *testing.T, what string, by *metav1.LabelSelector) []container {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(by)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var found []container
	for _, c := range containers(t) {
		if !selector.Empty() && selector.Matches(labels.Set(c.deployment.Spec.Template.Labels)) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		t.Errorf("%s selects no pod", what)
	}
	return found
}

func checkPort(t *testing.T, what, name string, pods []container) {
	t.Helper()
	for _, c := range pods {
		if port(c.Container, name) == 0 {
			t.Errorf("%s means port %q, which %v does not have", what, name, c)
		}
	}
}

// Every pod may be reached for what it serves, and reaches DNS and API servers
// on both of their usual ports.
func TestNetworkPoliciesLetThrough(t *testing.T) {
	covered := map[string]bool{}
	for _, policy := range ofKind[networkingv1.NetworkPolicy](t, render(t, "."), "NetworkPolicy") {
		for _, c := range selected(t, policy.Name, &policy.Spec.PodSelector) {
			covered[c.deployment.Name] = true
		}
		var in, out []string
		for _, rule := range policy.Spec.Ingress {
			for _, p := range rule.Ports {
				in = append(in, string(*p.Protocol)+" "+p.Port.String())
			}
		}
		for _, rule := range policy.Spec.Egress {
			for _, p := range rule.Ports {
				out = append(out, string(*p.Protocol)+" "+p.Port.String())
			}
		}
		for _, want := range []string{"TCP metrics", "TCP health"} {
			if !slices.Contains(in, want) {
				t.Errorf("%s lets no %s in", policy.Name, want)
			}
		}
		for _, want := range []string{"UDP 53", "TCP 53", "TCP 443", "TCP 6443"} {
			if !slices.Contains(out, want) {
				t.Errorf("%s lets no %s out", policy.Name, want)
			}
		}
	}
	for _, c := range containers(t) {
		if !covered[c.deployment.Name] {
			t.Errorf("no NetworkPolicy is about %s", c.deployment.Name)
		}
	}
}

// Where there is a standby, replicas elect a leader and a node drain leaves one
// of them; where there is one replica, two never write at a time.
func TestReplicas(t *testing.T) {
	objects := render(t, ".")
	budgets := ofKind[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget")
	for _, deployment := range ofKind[appsv1.Deployment](t, objects, "Deployment") {
		replicas := *deployment.Spec.Replicas
		elects := slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, "--leader-elect")
		budget := slices.ContainsFunc(budgets, func(b policyv1.PodDisruptionBudget) bool {
			selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			return err == nil && selector.Matches(labels.Set(deployment.Spec.Template.Labels))
		})
		if many := replicas > 1; elects != many || budget != many {
			t.Errorf("%s has %d replicas, elects a leader: %t, has a PodDisruptionBudget: %t", deployment.Name, replicas, elects, budget)
		}
		if !elects && deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
			t.Errorf("%s elects no leader and yet is rolled: two of it would write at a time", deployment.Name)
		}
	}
}

// Who a pod runs as exists, and what it is bound to as well.
func TestAccountsAndBindings(t *testing.T) {
	objects := render(t, ".")
	exists := func(kind, name string) bool {
		return slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
			return object.GetKind() == kind && object.GetName() == name
		})
	}
	bound := map[string]bool{}
	check := func(binding string, role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		if !exists(role.Kind, role.Name) {
			t.Errorf("%s binds %s %s, which does not exist", binding, role.Kind, role.Name)
		}
		for _, subject := range subjects {
			bound[subject.Name] = true
			if subject.Kind != "ServiceAccount" || subject.Namespace != namespace || !exists("ServiceAccount", subject.Name) {
				t.Errorf("%s binds %s %s/%s, which does not exist", binding, subject.Kind, subject.Namespace, subject.Name)
			}
		}
	}
	for _, binding := range ofKind[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding") {
		check("ClusterRoleBinding "+binding.Name, binding.RoleRef, binding.Subjects)
	}
	for _, binding := range ofKind[rbacv1.RoleBinding](t, objects, "RoleBinding") {
		check("RoleBinding "+binding.Name, binding.RoleRef, binding.Subjects)
	}
	for _, c := range containers(t) {
		if account := c.pod.ServiceAccountName; !exists("ServiceAccount", account) || !bound[account] {
			t.Errorf("%v runs as %s, which does not exist or has no rights", c, account)
		}
	}
}

// The Prometheus operator's objects find the Service, the pods and the port.
func TestMonitoringFindsWhatItScrapes(t *testing.T) {
	whole := render(t, ".")
	for _, object := range render(t, "monitoring") {
		if object.GetKind() == "PrometheusRule" {
			continue
		}
		wanted, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels")
		if err != nil || len(wanted) == 0 {
			t.Fatalf("%s selects nothing (%v)", named(object), err)
		}
		selector := labels.SelectorFromSet(wanted)
		var found bool
		switch object.GetKind() {
		case "ServiceMonitor":
			found = slices.ContainsFunc(ofKind[corev1.Service](t, whole, "Service"), func(s corev1.Service) bool {
				return selector.Matches(labels.Set(s.Labels)) && s.Spec.Ports[0].Name == "metrics"
			})
		case "PodMonitor":
			found = slices.ContainsFunc(containers(t), func(c container) bool {
				return selector.Matches(labels.Set(c.deployment.Spec.Template.Labels)) && port(c.Container, "metrics") != 0
			})
		}
		if !found {
			t.Errorf("%s finds nothing to scrape", named(object))
		}
	}
}

// An alert on a metric that nobody exports never fires.
func TestAlertsAreOnMetricsThatExist(t *testing.T) {
	metric := regexp.MustCompile(`\b(?:fivespot|controller_runtime|leader_election)_[a-z_]+`)
	for _, object := range render(t, "monitoring") {
		if object.GetKind() != "PrometheusRule" {
			continue
		}
		groups, _, err := unstructured.NestedSlice(object.Object, "spec", "groups")
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range groups {
			for _, rule := range group.(map[string]any)["rules"].([]any) {
				rule := rule.(map[string]any)
				names := metric.FindAllString(rule["expr"].(string), -1)
				if len(names) == 0 && !strings.Contains(rule["expr"].(string), "up{") {
					t.Errorf("alert %s is on no metric: %s", rule["alert"], rule["expr"])
				}
				for _, name := range names {
					if !exported(t, name) {
						t.Errorf("alert %s is on %s, which nobody exports", rule["alert"], name)
					}
				}
			}
		}
	}
}

// exported reports whether a metric's name is spelled out in our programs.
func exported(t *testing.T, name string) bool {
	t.Helper()
	for _, program := range []string{"controller", "provider"} {
		text, err := os.ReadFile(root + "/bin/" + program)
		if err != nil {
			t.Fatalf("%v: run `make build`", err)
		}
		// Our own names are put together from a namespace and the rest.
		if strings.Contains(string(text), name) || strings.Contains(string(text), strings.TrimPrefix(name, "fivespot_")) {
			return true
		}
	}
	return false
}

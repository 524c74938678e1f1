// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

const (
	bootstrapGroups      = "allowed-bootstrap-groups"
	infrastructureGroups = "allowed-infrastructure-groups"
)

// shipped reads an object of a kind from deploy/.
func shipped[T any](t *testing.T, file, kind string) T {
	t.Helper()
	var object T
	text, err := fs.ReadFile(deploy.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind == kind {
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatalf("%s holds no %s", file, kind)
	return object
}

// flagOf reads a ConfigMap's text as the controller's flag does.
func flagOf(t *testing.T, text string) []string {
	t.Helper()
	var groups []string
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSliceVar(&groups, "groups", nil, "")
	if err := flags.Parse([]string{"--groups=" + text}); err != nil {
		t.Fatal(err)
	}
	return groups
}

// One place says which groups are allowed: the program's own defaults are the
// same, the Deployment takes its flags from there, and the controller's role
// lets it work with them.
func TestAllowedGroupsAreSaidInOnePlace(t *testing.T) {
	config := shipped[corev1.ConfigMap](t, "controller/configmap.yaml", "ConfigMap")
	got := capi.AllowedGroups{
		Bootstrap:      flagOf(t, config.Data[bootstrapGroups]),
		Infrastructure: flagOf(t, config.Data[infrastructureGroups]),
	}
	if diff := cmp.Diff(capi.DefaultAllowedGroups, got); diff != "" {
		t.Errorf("the program's defaults are not what the ConfigMap says (-program +ConfigMap):\n%s", diff)
	}

	container := shipped[appsv1.Deployment](t, "controller/deployment.yaml", "Deployment").Spec.Template.Spec.Containers[0]
	for _, key := range []string{bootstrapGroups, infrastructureGroups} {
		variable := strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		if flag := fmt.Sprintf("--%s=$(%s)", key, variable); !slices.Contains(container.Args, flag) {
			t.Errorf("the Deployment has no argument %s", flag)
		}
		if !slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool {
			from := v.ValueFrom
			return v.Name == variable && from != nil && from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name == config.Name && from.ConfigMapKeyRef.Key == key
		}) {
			t.Errorf("the Deployment does not set %s from the ConfigMap", variable)
		}
	}

	rules := shipped[rbacv1.ClusterRole](t, "controller/rbac.yaml", "ClusterRole").Rules
	further := documented[rbacv1.ClusterRole](t, "ClusterRole").Rules[0].Verbs
	for _, group := range slices.Concat(got.Bootstrap, got.Infrastructure) {
		i := slices.IndexFunc(rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, "*")
		})
		if i < 0 {
			t.Errorf("the controller has no rights on objects of the allowed group %s", group)
			continue
		}
		if diff := cmp.Diff(rules[i].Verbs, further); diff != "" {
			t.Errorf("docs/admission.md grants other verbs for a further group than those for %s (-role +docs):\n%s", group, diff)
		}
	}
}

// configure sets the ConfigMap's data for a test; nil takes the ConfigMap away.
func configure(t *testing.T, data map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), devplanetest.Patience) // also in a clean-up
	defer cancel()
	c := devplanetest.Client(t)
	config := shipped[corev1.ConfigMap](t, "controller/configmap.yaml", "ConfigMap")
	config.Data = data
	err := client.IgnoreNotFound(c.Delete(ctx, config.DeepCopy()))
	if err == nil && data != nil {
		err = c.Create(ctx, config.DeepCopy())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func restore(t *testing.T, data map[string]string) {
	t.Helper()
	configure(t, data)
	if err := effective(devplanetest.Plane(t)); err != nil {
		t.Error(err)
	}
}

// The policy and the controller's second look agree, whatever the ConfigMap says.
func TestPolicyAndControllerAllowTheSame(t *testing.T) {
	original := shipped[corev1.ConfigMap](t, "controller/configmap.yaml", "ConfigMap").Data
	t.Cleanup(func() { restore(t, original) })
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	groups := []string{"bootstrap.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "k0smotron.io", "example.com", "x.example.com"}
	for i, data := range []map[string]string{
		original,
		{bootstrapGroups: "example.com", infrastructureGroups: "example.com,k0smotron.io"},
		{bootstrapGroups: "k0smotron.io,example.com,", infrastructureGroups: "x.example.com"},
		{bootstrapGroups: "k0smotron.io, example.com", infrastructureGroups: ""},
		{bootstrapGroups: "example.com"},
		{},
	} {
		// A group of this step's own tells when the policy goes by it.
		data = maps.Clone(data)
		probe := fmt.Sprintf("step-%d.example.com", i)
		data[bootstrapGroups] = strings.TrimPrefix(data[bootstrapGroups]+","+probe, ",")
		configure(t, data)
		first := with(t, smallestMachine, spec(`{"bootstrapSpec": {"apiVersion": "example.net/v1"}}`), namespace, "")
		if err := awaitRefused(devplanetest.Context(t), c, first, probe); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		allowed := capi.AllowedGroups{Bootstrap: flagOf(t, data[bootstrapGroups]), Infrastructure: flagOf(t, data[infrastructureGroups])}
		for _, bootstrap := range groups {
			for _, infrastructure := range groups {
				object := with(t, smallestMachine, spec(`{"bootstrapSpec": {"apiVersion": "%s/v1"}, "infrastructureSpec": {"apiVersion": "%s/v1"}}`, bootstrap, infrastructure), namespace, "")
				machine := &v1beta1.ScheduledMachine{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, machine); err != nil {
					t.Fatal(err)
				}
				second := capi.Validate(&machine.Spec, allowed)
				if err := c.Create(t.Context(), object, client.DryRunAll); (err == nil) != (len(second) == 0) {
					t.Errorf("with %v, for %s and %s: admission says %v, the controller %v", data, bootstrap, infrastructure, err, second)
				}
			}
		}
	}
}

// Without the ConfigMap, as while 5-Spot is taken away, nothing is kept from
// going. The controller looks at the groups by itself.
func TestWithoutTheConfigMapEverythingPasses(t *testing.T) {
	original := shipped[corev1.ConfigMap](t, "controller/configmap.yaml", "ConfigMap").Data
	t.Cleanup(func() { restore(t, original) })
	configure(t, nil)
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	foreign := with(t, smallestMachine, spec(`{"bootstrapSpec": {"apiVersion": "example.net/v1"}}`), namespace, "")
	if err := await(devplanetest.Context(t), func() error {
		return c.Create(t.Context(), foreign.DeepCopy(), client.DryRunAll)
	}); err != nil {
		t.Errorf("a new object: %v", err)
	}
	old := with(t, smallestMachine, `{}`, oldNamespace, "")
	old.SetName("foreign-groups")
	if err := patched(t, c, old, `{"metadata": {"finalizers": null}}`); err != nil {
		t.Errorf("taking a finalizer off: %v", err)
	}
	unable := as(t, mayOnlyWriteMachines)
	if err := unable.Create(t.Context(), with(t, smallestMachine, `{}`, metav1.NamespaceDefault, ""), client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("rights are asked for all the same: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// With the rights that we ship, and where the API server asks for rights on the
// owner (OwnerReferencesPermissionEnforcement), the controller's account can
// make and delete all three objects of a ScheduledMachine, of both versions of
// the Machine API.
func TestControllerMakesWhatItOwns(t *testing.T) {
	install(t)
	installClusterAPI(t)
	machine := sample(t)
	controller := as(t, "5spot-controller")
	for _, object := range children(t, machine) {
		t.Run(object.GetAPIVersion()+" "+object.GetKind(), func(t *testing.T) {
			if err := controller.Create(t.Context(), object); err != nil {
				t.Fatalf("creating it: %v", err)
			}
			if err := controller.Delete(t.Context(), object); err != nil {
				t.Errorf("deleting it: %v", err)
			}
			devplanetest.AwaitGone(t, object)
		})
	}
}

// The right on scheduledmachines/finalizers is needed: without it the API
// server refuses the Machine.
func TestOwningNeedsRightsOnTheOwner(t *testing.T) {
	install(t)
	installClusterAPI(t)
	rules := ofKind[rbacv1.ClusterRole](t, render(t, "controller"), "ClusterRole")[0].Rules
	var fewer []rbacv1.PolicyRule
	for _, rule := range rules {
		if rule.Resources[0] != "scheduledmachines/finalizers" {
			fewer = append(fewer, rule)
		}
	}
	if len(fewer) != len(rules)-1 {
		t.Fatal("the controller's role has no rule of its own for scheduledmachines/finalizers")
	}
	const name = "without-finalizers"
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: fewer},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
		},
	} {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	owned := children(t, sample(t))[0]
	err := as(t, name).Create(t.Context(), owned)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "blockOwnerDeletion") {
		t.Errorf("creating a %s: %v, want it refused for want of rights on the owner", owned.GetKind(), err)
	}
}

// sample is the guide's ScheduledMachine, stored in a namespace of its own.
func sample(t *testing.T) *v1beta1.ScheduledMachine {
	t.Helper()
	machine := &v1beta1.ScheduledMachine{}
	if err := yaml.UnmarshalStrict(samples(t)["scheduledmachine-trading-desk-rack.yaml"], machine); err != nil {
		t.Fatal(err)
	}
	machine.Namespace = devplanetest.Namespace(t)
	if err := cluster.Create(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	return machine
}

// children are the objects that the controller makes for a ScheduledMachine;
// the Machine first, in both versions.
func children(t *testing.T, machine *v1beta1.ScheduledMachine) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	add := func(object *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	add(capi.Machine(machine, capi.VersionV1Beta2, ""))
	add(capi.Machine(machine, capi.VersionV1Beta1, ""))
	add(capi.Bootstrap(machine))
	add(capi.Infrastructure(machine))
	return all
}

// as returns a client with a service account's own token.
func as(t *testing.T, account string) client.Client {
	t.Helper()
	own, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), namespace, account)
	if err != nil {
		t.Fatal(err)
	}
	return devplanetest.ClientFor(t, own)
}

// installClusterAPI installs the CRDs of what children returns.
func installClusterAPI(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"cluster.x-k8s.io_machines", "bootstrap.cluster.x-k8s.io_kubeadmconfigs", "infrastructure.cluster.x-k8s.io_devmachines",
	} {
		text, err := os.ReadFile(filepath.Join(root, "bin", "capi", "crds", name+".yaml"))
		if err != nil {
			t.Fatalf("%v: run `make build`", err)
		}
		devplanetest.Apply(t, text)
	}
}

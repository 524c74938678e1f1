// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// serviceAccount makes an account of this name without any rights and returns a
// client that is it.
func serviceAccount(t *testing.T, namespace, name string) client.Client {
	t.Helper()
	ctx := devplanetest.Context(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := devplanetest.Client(t).Create(ctx, account); err != nil {
		t.Fatal(err)
	}
	config, err := devplanetest.Plane(t).ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return devplanetest.ClientFor(t, config)
}

// grant gives an account a right in its namespace.
func grant(t *testing.T, namespace, account string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	c, ctx := devplanetest.Client(t), devplanetest.Context(t)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: account}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
		},
	} {
		if err := c.Create(ctx, object); err != nil {
			t.Fatal(err)
		}
	}
}

// ruleFor is about a resource of the core group.
func ruleFor(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func TestServiceAccountWithoutRolesMayNotListSecrets(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c := serviceAccount(t, namespace, "fresh")
	err := c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace))
	if !apierrors.IsForbidden(err) {
		t.Fatalf("listing secrets: got %v, want Forbidden", err)
	}
	grant(t, namespace, "fresh", ruleFor("secrets", "list"))
	awaitAllowed(t, func() error {
		return c.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace))
	})
}

func TestTokenIsOfTheServiceAccount(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	serviceAccount(t, namespace, "someone")
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), namespace, "someone")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := whoAmI(t, config), "system:serviceaccount:"+namespace+":someone"; got != want {
		t.Errorf("user is %q, want %q", got, want)
	}
}

func TestTokenForAMissingServiceAccountIsNotFound(t *testing.T) {
	_, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), devplanetest.Namespace(t), "nobody")
	if !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want NotFound", err)
	}
}

func TestImpersonatedUserHasOnlyTheirOwnRights(t *testing.T) {
	config := devplanetest.Plane(t).ImpersonatedConfig("jane", "system:authenticated")
	if got := whoAmI(t, config); got != "jane" {
		t.Errorf("user is %q, want jane", got)
	}
	err := devplanetest.ClientFor(t, config).List(t.Context(), &corev1.SecretList{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets: got %v, want Forbidden", err)
	}
}

func TestDeletingAnOwnerCollectsWhatItOwns(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c, ctx := devplanetest.Client(t), devplanetest.Context(t)
	owner := configMap(namespace, "owner")
	if err := c.Create(ctx, owner); err != nil {
		t.Fatal(err)
	}
	owned := configMap(namespace, "owned")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	if err := c.Create(ctx, owned); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, owner); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, configMap(namespace, "owned"))
}

func TestNamespaceDeletionEnds(t *testing.T) {
	name := devplanetest.Namespace(t)
	c, ctx := devplanetest.Client(t), devplanetest.Context(t)
	if err := c.Create(ctx, configMap(name, "content")); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Delete(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, namespace)
}

func TestNewNamespaceGetsItsDefaults(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	devplanetest.Await(t, account, func() error { return nil })
	ca := configMap(namespace, "kube-root-ca.crt")
	devplanetest.Await(t, ca, func() error { return nil })
	if got, want := ca.Data["ca.crt"], string(devplanetest.Plane(t).Config().CAData); got != want {
		t.Errorf("kube-root-ca.crt holds\n%s\nwant the certificate of the kubeconfig\n%s", got, want)
	}
}

func TestSecretOfTypeServiceAccountTokenIsFilled(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	serviceAccount(t, namespace, "legacy")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "legacy-token",
			Annotations: map[string]string{corev1.ServiceAccountNameKey: "legacy"},
		},
		Type: corev1.SecretTypeServiceAccountToken,
	}
	if err := devplanetest.Client(t).Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	devplanetest.Await(t, secret, func() error {
		if len(secret.Data[corev1.ServiceAccountTokenKey]) == 0 {
			return errors.New("there is no token in it")
		}
		return nil
	})
}

func TestClusterRolesAreAggregated(t *testing.T) {
	view := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "view"}}
	devplanetest.Await(t, view, func() error {
		if len(view.Rules) == 0 {
			return errors.New("it has no rules")
		}
		return nil
	})
}

func TestBlockingOwnerReferenceNeedsRightToFinalizers(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c, ctx := devplanetest.Client(t), devplanetest.Context(t)
	owner := configMap(namespace, "owner")
	if err := c.Create(ctx, owner); err != nil {
		t.Fatal(err)
	}
	controller := serviceAccount(t, namespace, "controller")
	grant(t, namespace, "controller", ruleFor("configmaps", "create"))

	owned := configMap(namespace, "owned")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	awaitAllowed(t, func() error { return controller.Create(ctx, owned.DeepCopy()) })

	owned.Name = "blocking"
	owned.OwnerReferences[0].BlockOwnerDeletion = new(true)
	err := controller.Create(ctx, owned)
	if !apierrors.IsForbidden(err) {
		t.Errorf("a reference with blockOwnerDeletion: got %v, want Forbidden", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mayOnlyWriteMachines is a user with no right but on ScheduledMachines.
const mayOnlyWriteMachines = "only-scheduledmachines"

var scheduledMachineRule = rbacv1.PolicyRule{
	APIGroups: []string{"5spot.finos.org"},
	Resources: []string{"scheduledmachines"},
	Verbs:     []string{"get", "list", "watch", "create", "update", "patch", "delete"},
}

// grant gives a user rights in a namespace by a Role and a RoleBinding, and
// returns once the API server goes by them. One of the rules must be
// scheduledMachineRule: it is what is asked for.
func grant(ctx context.Context, c client.Client, namespace, user string, rules ...rbacv1.PolicyRule) error {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: user}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		},
	} {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("granting rights to %s: %w", user, err)
		}
	}
	return await(ctx, func() error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Group: "5spot.finos.org", Resource: "scheduledmachines", Verb: "create",
			},
		}}
		if err := c.Create(ctx, review); err != nil {
			return err
		}
		if !review.Status.Allowed {
			return errors.New("the rights are not known yet")
		}
		return nil
	})
}

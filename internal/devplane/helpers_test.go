// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"context"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func whoAmI(t *testing.T, config *rest.Config) string {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := c.AuthenticationV1().SelfSubjectReviews().Create(devplanetest.Context(t),
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username
}

// awaitAllowed asks until the answer is not Forbidden: the authorizer learns of a
// new role a moment after it was made, and no event tells when.
func awaitAllowed(t *testing.T, ask func() error) {
	t.Helper()
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 10*time.Millisecond, true,
		func(context.Context) (bool, error) {
			err := ask()
			if apierrors.IsForbidden(err) {
				return false, nil
			}
			return err == nil, err
		})
	if err != nil {
		t.Fatal(err)
	}
}

func serverVersion(t *testing.T, config *rest.Config) *version.Info {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

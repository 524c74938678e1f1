// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"context"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// grantedPoll is between two questions whether a right is granted.
const grantedPoll = 20 * time.Millisecond

// AwaitGranted returns when the API server goes by a right that was granted to a
// user, which it does a moment after the grant and without an event.
func AwaitGranted(tb testing.TB, user string, right authorizationv1.ResourceAttributes) {
	tb.Helper()
	c := Client(tb)
	err := wait.PollUntilContextCancel(Context(tb), grantedPoll, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right},
		}
		err := c.Create(ctx, review)
		return err == nil && review.Status.Allowed, err
	})
	if err != nil {
		tb.Fatalf("waiting until %s may %s %s: %v", user, right.Verb, right.Resource, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"os"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

const systemNamespace = "5spot-system"

// Our service accounts.
const (
	controller = "5spot-controller"
	provider   = "manual-schedule-provider"
)

func TestMain(m *testing.M) {
	devplanetest.Main(m, devplanetest.CRDs, strangersKind, grants)
}

// strangersKind is a schedule kind that we know nothing of.
func strangersKind(p *devplane.Plane) error {
	text, err := os.ReadFile("testdata/strangers-kind.yaml")
	if err != nil {
		return err
	}
	return devplanetest.Manifest(text)(p)
}

// grants applies what deploy/ grants, and returns once the API server goes by it.
func grants(p *devplane.Plane) error {
	if err := devplanetest.Deployed(
		"controller/namespace.yaml", "controller/rbac.yaml", "controller/workload-clusters.yaml", "controller/leader-election.yaml",
		"spot-schedule-providers/manual/rbac.yaml",
	)(p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), devplanetest.Patience)
	defer cancel()
	// The last of the rights of each account that is granted.
	for account, last := range map[string]authorizationv1.ResourceAttributes{
		controller: {Group: "events.k8s.io", Resource: "events", Verb: "create"},
		provider:   {Group: "spotschedules.5spot.finos.org", Resource: "manualschedules", Subresource: "status", Verb: "patch"},
	} {
		if err := awaitGranted(ctx, p, account, last); err != nil {
			return err
		}
	}
	return nil
}

// grantedPoll is between two questions: that a grant is known to the authorizer
// has no event.
const grantedPoll = 20 * time.Millisecond

func awaitGranted(ctx context.Context, p *devplane.Plane, account string, right authorizationv1.ResourceAttributes) error {
	config, err := p.ServiceAccountConfig(ctx, systemNamespace, account)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right},
	}
	return wait.PollUntilContextCancel(ctx, grantedPoll, true, func(ctx context.Context) (bool, error) {
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
}

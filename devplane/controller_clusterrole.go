// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
)

const clusterRoleWorkers = 5 // kube-controller-manager's own default

func clusterRoleAggregation(_ context.Context, c *controllers) (loop, error) {
	_, client, err := c.client("clusterrole-aggregation-controller")
	if err != nil {
		return nil, err
	}
	controller := clusterroleaggregation.NewClusterRoleAggregation(c.typed.Rbac().V1().ClusterRoles(), client.RbacV1())
	return func(ctx context.Context) { controller.Run(ctx, clusterRoleWorkers) }, nil
}

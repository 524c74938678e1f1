// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/disruption"
)

const disruptionWorkers = 5 // kube-controller-manager's own default

// disruptionBudgets keeps the status of PodDisruptionBudgets, without which
// every eviction that one of them covers is refused.
func disruptionBudgets(ctx context.Context, c *controllers) (loop, error) {
	config, client, err := c.client("disruption-controller")
	if err != nil {
		return nil, err
	}
	scales, err := scale.NewForConfig(config, c.mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("making its scale client: %w", err)
	}
	controller := disruption.NewDisruptionController(ctx,
		c.typed.Core().V1().Pods(),
		c.typed.Policy().V1().PodDisruptionBudgets(),
		c.typed.Core().V1().ReplicationControllers(),
		c.typed.Apps().V1().ReplicaSets(),
		c.typed.Apps().V1().Deployments(),
		c.typed.Apps().V1().StatefulSets(),
		client, c.mapper, scales, client.Discovery())
	return func(ctx context.Context) { controller.Run(ctx, disruptionWorkers) }, nil
}

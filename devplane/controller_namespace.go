// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

// kube-controller-manager's own defaults.
const (
	namespaceResync  = 5 * time.Minute
	namespaceWorkers = 10
)

func namespaces(ctx context.Context, c *controllers) (loop, error) {
	config, client, err := c.client("namespace-controller")
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making its metadata client: %w", err)
	}
	controller := namespace.NewNamespaceController(ctx, client, metadataClient,
		client.Discovery().ServerPreferredNamespacedResources,
		c.typed.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	return func(ctx context.Context) { controller.Run(ctx, namespaceWorkers) }, nil
}

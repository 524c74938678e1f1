// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
)

// rootCAPublisher keeps the ConfigMap kube-root-ca.crt in every namespace.
func rootCAPublisher(_ context.Context, c *controllers) (loop, error) {
	_, client, err := c.client("root-ca-cert-publisher")
	if err != nil {
		return nil, err
	}
	publisher, err := rootcacertpublisher.NewPublisher(
		c.typed.Core().V1().ConfigMaps(), c.typed.Core().V1().Namespaces(), client, c.clients.rootCA())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { publisher.Run(ctx, 1) }, nil
}

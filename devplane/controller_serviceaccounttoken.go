// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	serviceaccounttoken "k8s.io/kubernetes/pkg/serviceaccount"
)

const tokenWorkers = 5 // kube-controller-manager's own default

// serviceAccountTokens fills Secrets of type
// kubernetes.io/service-account-token.
func serviceAccountTokens(ctx context.Context, c *controllers) (loop, error) {
	key, err := keyutil.PrivateKeyFromFile(c.layout.key(serviceAccountKey))
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	generator, err := serviceaccounttoken.JWTTokenGenerator(serviceaccounttoken.LegacyIssuer, key)
	if err != nil {
		return nil, fmt.Errorf("making the token generator: %w", err)
	}
	// kube-controller-manager, too, runs this one under its own name.
	config, err := c.clients.manager()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making its client: %w", err)
	}
	controller, err := serviceaccount.NewTokensController(klog.FromContext(ctx),
		c.typed.Core().V1().ServiceAccounts(), c.typed.Core().V1().Secrets(), client,
		serviceaccount.TokensControllerOptions{TokenGenerator: generator, RootCA: c.clients.rootCA()})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { controller.Run(ctx, tokenWorkers) }, nil
}

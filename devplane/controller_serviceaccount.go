// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// serviceAccounts keeps the account "default" in every namespace.
func serviceAccounts(ctx context.Context, c *controllers) (loop, error) {
	_, client, err := c.client("service-account-controller")
	if err != nil {
		return nil, err
	}
	controller, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx),
		c.typed.Core().V1().ServiceAccounts(), c.typed.Core().V1().Namespaces(), client,
		serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { controller.Run(ctx, 1) }, nil
}

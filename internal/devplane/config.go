// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Config returns a new configuration of a client that may do everything and is
// not slowed down.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// tokenLife is longer than any test runs; a token ends with its service
// account in any case.
const tokenLife = 24 * time.Hour

// ServiceAccountConfig returns the configuration of a client that is the named
// service account, by a token from the TokenRequest API that is valid for 24
// hours. The error is the API server's, NotFound when there is no such account.
func (p *Plane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	seconds := int64(tokenLife.Seconds())
	answer, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("requesting a token for service account %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(p.config)
	config.BearerToken = answer.Status.Token
	return config, nil
}

// ImpersonatedConfig returns the configuration of an admin's client which asks
// to be treated as the user with these groups, that is, with the user's rights.
// The user need not exist. A service account is of the groups
// system:serviceaccounts and system:serviceaccounts:NAMESPACE; every user who
// is known is of system:authenticated.
func (p *Plane) ImpersonatedConfig(user string, groups ...string) *rest.Config {
	config := p.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

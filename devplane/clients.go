// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// clients makes client configurations for users of the control plane's own.
type clients struct {
	server string
	ca     *authority
}

// controller is the identity of one controller: that of the service account
// which kube-controller-manager uses for it, so that kube-apiserver's own roles
// apply and the audit log tells the controllers apart.
func (c clients) controller(name string) (*rest.Config, error) {
	return c.user("system:serviceaccount:kube-system:"+name,
		"system:serviceaccounts", "system:serviceaccounts:kube-system")
}

// manager is the identity that reads for all controllers.
func (c clients) manager() (*rest.Config, error) {
	return c.user("system:kube-controller-manager")
}

// admin may do everything.
func (c clients) admin() (*rest.Config, error) {
	return c.user(adminUser, adminGroup)
}

// user signs a certificate that lives in memory only.
func (c clients) user(name string, groups ...string) (*rest.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of user %s: %w", name, err)
	}
	der, err := c.ca.sign(clientTemplate(name, groups...), key.Public())
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of user %s: %w", name, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, fmt.Errorf("encoding the key of user %s: %w", name, err)
	}
	return &rest.Config{
		Host:      c.server,
		UserAgent: "devplane/" + name,
		QPS:       -1, // kube-apiserver's own fairness is limit enough on one machine
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.rootCA(),
			CertData: pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}),
			KeyData:  keyPEM,
		},
	}, nil
}

// rootCA is the certificate by which to know the server, PEM encoded.
func (c clients) rootCA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: c.ca.certificate.Raw})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Names of the key pairs under DIR/pki.
const (
	clusterCA         = "ca"
	frontProxyCA      = "front-proxy-ca"
	frontProxyClient  = "front-proxy-client"
	servingPair       = "apiserver"
	adminPair         = "admin"
	serviceAccountKey = "service-account"
)

// The admin is in the group that every authorizer lets through.
const (
	adminUser  = "kubernetes-admin"
	adminGroup = "system:masters"
)

// serviceClusterIP is the address of the Service "kubernetes": the first of
// serviceClusterIPRange.
var serviceClusterIP = net.IPv4(10, 96, 0, 1)

const serviceClusterIPRange = "10.96.0.0/16"

// ensurePKI makes whatever key or certificate is missing and leaves the rest as
// it is, so that credentials outlive a restart.
func (l layout) ensurePKI() (*authority, error) {
	ca, err := l.ensureAuthority(clusterCA, "kubernetes")
	if err != nil {
		return nil, err
	}
	frontProxy, err := l.ensureAuthority(frontProxyCA, "kubernetes-front-proxy-ca")
	if err != nil {
		return nil, err
	}
	if err := l.ensurePair(ca, servingPair, servingTemplate()); err != nil {
		return nil, err
	}
	if err := l.ensurePair(ca, adminPair, clientTemplate(adminUser, adminGroup)); err != nil {
		return nil, err
	}
	if err := l.ensurePair(frontProxy, frontProxyClient, clientTemplate(frontProxyClient)); err != nil {
		return nil, err
	}
	if _, err := l.ensureKey(serviceAccountKey); err != nil {
		return nil, err
	}
	return ca, nil
}

// servingTemplate carries the names under which kube-apiserver is known inside
// a cluster, as in one that kubeadm made.
func servingTemplate() *x509.Certificate {
	t := template("kube-apiserver")
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames = []string{
		"localhost",
		"kubernetes",
		"kubernetes.default",
		"kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local",
	}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, serviceClusterIP}
	return t
}

func (l layout) ensureAuthority(name, commonName string) (*authority, error) {
	key, err := l.ensureKey(name)
	if err != nil {
		return nil, err
	}
	if !exists(l.certificate(name)) {
		certificate, err := selfSigned(commonName, key)
		if err != nil {
			return nil, err
		}
		if err := l.writeCertificate(name, certificate.Raw); err != nil {
			return nil, err
		}
	}
	certificates, err := cert.CertsFromFile(l.certificate(name))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of authority %s: %w", name, err)
	}
	return &authority{certificate: certificates[0], key: key}, nil
}

func (l layout) ensurePair(ca *authority, name string, t *x509.Certificate) error {
	key, err := l.ensureKey(name)
	if err != nil {
		return err
	}
	if exists(l.certificate(name)) {
		return nil
	}
	der, err := ca.sign(t, key.Public())
	if err != nil {
		return fmt.Errorf("signing certificate %s: %w", name, err)
	}
	return l.writeCertificate(name, der)
}

// ensureKey returns the named key, made now if there was none.
func (l layout) ensureKey(name string) (*ecdsa.PrivateKey, error) {
	if !exists(l.key(name)) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("making key %s: %w", name, err)
		}
		encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
		if err != nil {
			return nil, fmt.Errorf("encoding key %s: %w", name, err)
		}
		if err := writeFile(l.key(name), encoded); err != nil {
			return nil, fmt.Errorf("writing key %s: %w", name, err)
		}
	}
	parsed, err := keyutil.PrivateKeyFromFile(l.key(name))
	if err != nil {
		return nil, fmt.Errorf("reading key %s: %w", name, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("key %s is of type %T, want an ECDSA key: remove %s to have a new one made", name, parsed, l.path("pki"))
	}
	return key, nil
}

func (l layout) writeCertificate(name string, der []byte) error {
	encoded := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
	if err := writeFile(l.certificate(name), encoded); err != nil {
		return fmt.Errorf("writing certificate %s: %w", name, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

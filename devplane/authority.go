// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"

	"k8s.io/client-go/util/cert"
)

// validity outlives any directory that a development control plane is kept in,
// so nothing here has to renew certificates.
const validity = 10 * 365 * 24 * time.Hour

// backdating allows for a clock that is set back a little.
const backdating = time.Hour

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func selfSigned(commonName string, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	certificate, err := cert.NewSelfSignedCACert(cert.Config{
		CommonName: commonName,
		NotBefore:  time.Now().Add(-backdating),
	}, key)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of authority %s: %w", commonName, err)
	}
	return certificate, nil
}

// sign returns the certificate in DER form.
func (a *authority) sign(t *x509.Certificate, public crypto.PublicKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	t.SerialNumber = serial.Add(serial, big.NewInt(1))
	return x509.CreateCertificate(rand.Reader, t, a.certificate, public, a.key)
}

func template(commonName string, organizations ...string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName, Organization: organizations},
		NotBefore:             now.Add(-backdating),
		NotAfter:              now.Add(validity - 2*backdating), // within the authority's own
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
}

// clientTemplate is for a user and groups: kube-apiserver reads the common name
// as the one and the organizations as the others.
func clientTemplate(user string, groups ...string) *x509.Certificate {
	t := template(user, groups...)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return t
}

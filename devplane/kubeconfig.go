// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes the admin's kubeconfig. Certificates and key are in
// the file itself, so that it can be copied.
func (l layout) writeKubeconfig(server string) error {
	ca, err := os.ReadFile(l.certificate(clusterCA))
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	certificate, err := os.ReadFile(l.certificate(adminPair))
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	key, err := os.ReadFile(l.key(adminPair))
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}

	const name = "devplane"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos[adminUser] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: adminUser}
	c.CurrentContext = name
	content, err := clientcmd.Write(*c)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	if err := writeFile(l.kubeconfig(), content); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// sizeLimit bounds a kubeconfig, in bytes. Cluster API's are of 6 KiB.
const sizeLimit = 256 << 10

// parseKubeconfig returns how to reach a cluster, or the *fault that says what
// is wrong with the kubeconfig. Whoever may write a Secret decides what it says,
// so it is taken for an address and credentials and for nothing else: it names no
// program and no file, no proxy, no address without TLS, and it does not turn
// the check of the server's identity off. No text of it reaches the fault, but
// for the names of fields.
func parseKubeconfig(content []byte, at secretKey) (*rest.Config, *fault) {
	if len(content) > sizeLimit {
		return nil, invalid(at, fmt.Sprintf("holds more than %d KiB, which no kubeconfig does", sizeLimit>>10))
	}
	parsed, err := clientcmd.Load(content)
	if err != nil { // it quotes what it cannot read
		return nil, invalid(at, "does not hold a kubeconfig")
	}
	cluster, user, what := current(parsed)
	if what != "" {
		return nil, invalid(at, "holds a kubeconfig "+what)
	}
	if field := refusedOfCluster(cluster); field != "" {
		return nil, refused(at, field)
	}
	if field := refusedOfUser(user); field != "" {
		return nil, refused(at, field)
	}
	config := &rest.Config{
		Host: cluster.Server,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: cluster.TLSServerName, CAData: cluster.CertificateAuthorityData,
			CertData: user.ClientCertificateData, KeyData: user.ClientKeyData,
		},
		BearerToken: user.Token,
		Impersonate: rest.ImpersonationConfig{
			UserName: user.Impersonate, UID: user.ImpersonateUID,
			Groups: user.ImpersonateGroups, Extra: user.ImpersonateUserExtra,
		},
		UserAgent:      userAgent,
		WarningHandler: rest.NoWarnings{}, // its text is the server's
		QPS:            -1,
	}
	if what := unusable(config); what != "" {
		return nil, invalid(at, "holds a kubeconfig "+what)
	}
	return config, nil
}

const userAgent = "5spot-controller"

func invalid(at secretKey, what string) *fault {
	return &fault{reason: ReasonKubeconfigInvalid, label: "invalid_yaml", message: upperFirst(at.String()) + " " + what}
}

func refused(at secretKey, field string) *fault {
	return &fault{
		reason: ReasonKubeconfigRefused, label: "refused",
		message: upperFirst(at.String()) + " holds a kubeconfig with " + field +
			", which is not followed: put the server's certificate authority and a token or a client certificate into it as data",
	}
}

// current returns the cluster and the user of the current context, or what is missing.
func current(parsed *clientcmdapi.Config) (cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo, what string) {
	if parsed.CurrentContext == "" {
		return nil, nil, "without current-context"
	}
	context := parsed.Contexts[parsed.CurrentContext]
	if context == nil {
		return nil, nil, "without the context that current-context names"
	}
	if cluster = parsed.Clusters[context.Cluster]; cluster == nil {
		return nil, nil, "without the cluster of its current context"
	}
	if user = parsed.AuthInfos[context.AuthInfo]; user == nil {
		return nil, nil, "without the user of its current context"
	}
	return cluster, user, ""
}

func refusedOfCluster(cluster *clientcmdapi.Cluster) (field string) {
	switch {
	case cluster.CertificateAuthority != "":
		return "certificate-authority"
	case cluster.InsecureSkipTLSVerify:
		return "insecure-skip-tls-verify"
	case cluster.ProxyURL != "":
		return "proxy-url"
	}
	return ""
}

func refusedOfUser(user *clientcmdapi.AuthInfo) (field string) {
	switch {
	case user.Exec != nil:
		return "exec"
	case user.AuthProvider != nil:
		return "auth-provider"
	case user.ClientCertificate != "":
		return "client-certificate"
	case user.ClientKey != "":
		return "client-key"
	case user.TokenFile != "":
		return "tokenFile"
	case user.Username != "", user.Password != "":
		return "username and password"
	}
	return ""
}

// unusable says what about the values, of which every one is allowed, is wrong.
func unusable(config *rest.Config) (what string) {
	server, err := url.Parse(config.Host)
	switch {
	case err != nil, server.Host == "":
		return "whose server is no URL"
	case server.Scheme != "https":
		return "whose server is not an https URL"
	case server.User != nil, server.RawQuery != "", server.Fragment != "":
		return "whose server has more than scheme, host, port and path"
	}
	if len(config.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(config.CAData) {
		return "whose certificate-authority-data is no certificate"
	}
	if len(config.CertData) > 0 || len(config.KeyData) > 0 {
		if _, err := tls.X509KeyPair(config.CertData, config.KeyData); err != nil {
			return "whose client-certificate-data and client-key-data are no pair"
		}
	}
	if slices.ContainsFunc(headers(config), func(value string) bool { return strings.ContainsFunc(value, unicode.IsControl) }) {
		return "whose token or impersonation has a control character in it, such as a line break at its end"
	}
	return ""
}

// headers returns the values that are sent as headers.
func headers(config *rest.Config) []string {
	values := append([]string{config.BearerToken, config.Impersonate.UserName, config.Impersonate.UID}, config.Impersonate.Groups...)
	for _, extra := range config.Impersonate.Extra {
		values = append(values, extra...)
	}
	return values
}

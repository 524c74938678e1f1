// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/workload"
)

// newAuthority is a configuration with a certificate authority.
func newAuthority(t *testing.T) *rest.Config {
	t.Helper()
	return devplanetest.Plane(t).Config()
}

func TestKubeconfigs(t *testing.T) {
	t.Parallel()
	const where = "Key value of Secret rack-kubeconfig"
	refusal := func(field string) string {
		return where + " holds a kubeconfig with " + field +
			", which is not followed: put the server's certificate authority and a token or a client certificate into it as data"
	}
	type parts struct {
		*clientcmdapi.Config
		cluster *clientcmdapi.Cluster
		user    *clientcmdapi.AuthInfo
	}
	tests := map[string]struct {
		change          func(parts)
		reason, message string // empty where it is fine
	}{
		"as Cluster API writes it": {change: func(parts) {}},
		"a token":                  {change: func(p parts) { p.user.Token, p.user.ClientCertificateData, p.user.ClientKeyData = token, nil, nil }},
		"a server name":            {change: func(p parts) { p.cluster.TLSServerName = "kubernetes" }},
		"a server with a path":     {change: func(p parts) { p.cluster.Server = "https://proxy.example.com/clusters/rack" }},
		"public authorities":       {change: func(p parts) { p.cluster.CertificateAuthorityData = nil }},
		"impersonation":            {change: func(p parts) { p.user.Impersonate = "5spot" }},
		"extensions":               {change: func(p parts) { p.Contexts["other"] = &clientcmdapi.Context{Cluster: "gone"} }},

		"a program": {
			func(p parts) {
				p.user.Exec = &clientcmdapi.ExecConfig{Command: "sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}
			},
			workload.ReasonKubeconfigRefused, refusal("exec"),
		},
		"an auth provider": {
			func(p parts) { p.user.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} },
			workload.ReasonKubeconfigRefused, refusal("auth-provider"),
		},
		"a token from a file": {
			func(p parts) { p.user.TokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token" },
			workload.ReasonKubeconfigRefused, refusal("tokenFile"),
		},
		"a token from a file beside a token": {
			func(p parts) {
				p.user.Token, p.user.TokenFile = token, "/var/run/secrets/kubernetes.io/serviceaccount/token"
			},
			workload.ReasonKubeconfigRefused, refusal("tokenFile"),
		},
		"a certificate from a file": {
			func(p parts) { p.user.ClientCertificate = "/etc/passwd" }, workload.ReasonKubeconfigRefused, refusal("client-certificate"),
		},
		"a key from a file": {
			func(p parts) { p.user.ClientKey = "/etc/passwd" }, workload.ReasonKubeconfigRefused, refusal("client-key"),
		},
		"an authority from a file": {
			func(p parts) { p.cluster.CertificateAuthority = "/etc/passwd" }, workload.ReasonKubeconfigRefused, refusal("certificate-authority"),
		},
		"no check of the server": {
			func(p parts) { p.cluster.InsecureSkipTLSVerify, p.cluster.CertificateAuthorityData = true, nil },
			workload.ReasonKubeconfigRefused, refusal("insecure-skip-tls-verify"),
		},
		"a proxy": {
			func(p parts) { p.cluster.ProxyURL = "http://10.0.0.1:3128" }, workload.ReasonKubeconfigRefused, refusal("proxy-url"),
		},
		"a password": {
			func(p parts) { p.user.Username, p.user.Password = "admin", token },
			workload.ReasonKubeconfigRefused, refusal("username and password"),
		},

		"no current context": {
			func(p parts) { p.CurrentContext = "" },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig without current-context",
		},
		"a context that is not there": {
			func(p parts) { p.CurrentContext = token },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig without the context that current-context names",
		},
		"a cluster that is not there": {
			func(p parts) { p.Contexts["rack"].Cluster = token },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig without the cluster of its current context",
		},
		"a user that is not there": {
			func(p parts) { p.Contexts["rack"].AuthInfo = token },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig without the user of its current context",
		},
		"no server": {
			func(p parts) { p.cluster.Server = "" },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose server is no URL",
		},
		"a server without TLS": {
			func(p parts) { p.cluster.Server = "http://10.0.0.1:6443" },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose server is not an https URL",
		},
		"a server with a password": {
			func(p parts) { p.cluster.Server = "https://admin:" + token + "@10.0.0.1:6443" },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose server has more than scheme, host, port and path",
		},
		"an authority that is none": {
			func(p parts) { p.cluster.CertificateAuthorityData = []byte(token) },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose certificate-authority-data is no certificate",
		},
		"a token with a line break at its end": { // as base64 of a file's content has
			func(p parts) { p.user.Token = token + "\n" },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose token or impersonation has a control character in it, such as a line break at its end",
		},
		"impersonation of a group with a line break": {
			func(p parts) { p.user.Impersonate, p.user.ImpersonateGroups = "5spot", []string{"a\r\nb"} },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose token or impersonation has a control character in it, such as a line break at its end",
		},
		"impersonation with an extra of two lines": {
			func(p parts) {
				p.user.Impersonate, p.user.ImpersonateUserExtra = "5spot", map[string][]string{"scopes": {"fine", "a\nb"}}
			},
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose token or impersonation has a control character in it, such as a line break at its end",
		},
		"a certificate without key": {
			func(p parts) { p.user.ClientKeyData = nil },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose client-certificate-data and client-key-data are no pair",
		},
		"a key that is none": {
			func(p parts) { p.user.ClientKeyData = []byte(token) },
			workload.ReasonKubeconfigInvalid, where + " holds a kubeconfig whose client-certificate-data and client-key-data are no pair",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := clientcmd.Load(admin(t, "https://10.0.0.1:6443"))
			if err != nil {
				t.Fatal(err)
			}
			test.change(parts{config, config.Clusters["rack"], config.AuthInfos["rack"]})
			content, err := clientcmd.Write(*config)
			if err != nil {
				t.Fatal(err)
			}
			server, reason, message := workload.ParseKubeconfig(content)
			if reason != test.reason || message != test.message || (server != "") != (reason == "") {
				t.Errorf("server %q, reason %q, message\n%q, want reason %q, message\n%q", server, reason, message, test.reason, test.message)
			}
		})
	}
}

func TestWhatIsNoKubeconfigIsNotQuoted(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"nothing":        "",
		"text":           token,
		"YAML":           "token: " + token + "\nclusters: " + token,
		"another kind":   "apiVersion: v1\nkind: " + token,
		"broken YAML":    "clusters: [" + token,
		"binary":         "\x00\x01\xff" + token,
		"too much of it": "clusters: []\n" + strings.Repeat("#", 256<<10),
	} {
		_, reason, message := workload.ParseKubeconfig([]byte(content))
		if reason != workload.ReasonKubeconfigInvalid || strings.Contains(message, token) {
			t.Errorf("%s: reason %q, message %q", name, reason, message)
		}
	}
}

func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
		"clusters: [{name: a, cluster: {server: 'https://10.0.0.1'}}]\nusers: [{name: a, user: {token: abcdefghijkl}}]\n"))
	f.Add([]byte(`{"kind":"Config","users":[{"name":"a","user":{"exec":{"command":"sh"}}}]}`))
	f.Add([]byte("users: &a [*a]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		server, reason, message := workload.ParseKubeconfig(content)
		if (server == "") != (reason != "" && message != "") {
			t.Fatalf("server %q, reason %q, message %q", server, reason, message)
		}
		if server != "" && !strings.HasPrefix(strings.ToLower(server), "https://") {
			t.Fatalf("server %q", server)
		}
		if longest := 16; len(content) >= longest { // no run of the content shows up
			for i := range len(content) - longest {
				if run := content[i : i+longest]; strings.Contains(message, string(run)) && !bytes.Contains([]byte(allMessages), run) {
					t.Fatalf("the message %q quotes %q", message, run)
				}
			}
		}
	})
}

// allMessages are the words that messages are made of.
const allMessages = "Key value of Secret rack-kubeconfig holds a kubeconfig with, which is not followed: put the server's certificate authority " +
	"and a token or a client certificate into it as data holds more than 256 KiB, which no kubeconfig does, does not hold a kubeconfig"

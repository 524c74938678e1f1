// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/internal/process"
)

// account is the guide's own, in its namespace.
const (
	accountNamespace = "5spot-system"
	account          = "manual-schedule-provider"
)

// block returns a block of the guide.
func block(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "guide", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sh runs what a reader types into a shell as the administrator, and returns
// what it prints.
func sh(t *testing.T, commands string) string {
	t.Helper()
	return shWith(t, localclustertest.Cluster(t).Kubeconfig(), "", commands)
}

// apply is `kubectl apply -f -`.
func apply(t *testing.T, manifest string) {
	t.Helper()
	shWith(t, localclustertest.Cluster(t).Kubeconfig(), manifest, "kubectl apply -f -")
}

// asProvider is sh for who has the credentials of the guide's account.
func asProvider(t *testing.T, commands string) string {
	t.Helper()
	return shWith(t, providerKubeconfig(t), "", commands)
}

func shWith(t *testing.T, kubeconfig, input, commands string) string {
	t.Helper()
	var output, complaints bytes.Buffer
	shell := exec.CommandContext(deadline(t), "bash", "-euo", "pipefail", "-c", commands)
	shell.Env = append(os.Environ(), environment(t, kubeconfig)...)
	shell.Stdin = strings.NewReader(input)
	shell.Stdout, shell.Stderr = &output, &complaints
	if err := shell.Run(); err != nil {
		t.Fatalf("%s\n%v: %s%s", commands, err, output.String(), complaints.String())
	}
	return output.String()
}

// environment makes a shell find the kubectl that is built here, and the user.
func environment(t *testing.T, kubeconfig string) []string {
	t.Helper()
	programs, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(programs, "kubectl")); err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	return []string{
		"PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH"),
		"KUBECONFIG=" + kubeconfig,
		// What an earlier cluster at the same address served is none of this one's.
		"KUBECACHEDIR=" + filepath.Join(localclustertest.Cluster(t).Dir(), "kubectl-cache"),
	}
}

// providerKubeconfig returns the path of a kubeconfig with a token of the
// guide's account, which must exist.
func providerKubeconfig(t *testing.T) string {
	t.Helper()
	path, err := localclustertest.Cluster(t).ServiceAccountKubeconfig(deadline(t), accountNamespace, account)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startProvider starts the provider that is a shell loop, under the guide's
// account; it ends with the test.
func startProvider(t *testing.T) {
	t.Helper()
	config, err := localclustertest.Cluster(t).ServiceAccountConfig(deadline(t), accountNamespace, account)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ca, log := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "provider.log")
	if err := os.WriteFile(ca, config.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	provider, err := process.Start(deadline(t), process.Options{
		Name: "provider",
		Path: "../../examples/providers/manual-shell/provider.sh",
		Env:  []string{"API_SERVER=" + config.Host, "TOKEN_FILE=" + config.BearerTokenFile, "CA_FILE=" + ca},
		Log:  log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := provider.Stop(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the provider's log:\n%s", text)
		}
	})
}

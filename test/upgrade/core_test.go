// SPDX-License-Identifier: Apache-2.0

package upgrade_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/internal/process"
	"github.com/fivespot/fivespot/test/hardware"
)

// bin is where `make build` leaves programs.
const bin = "../../bin"

// A release is a Cluster API that can be installed.
type release struct {
	dir string // below bin
	// converts is true where it has versions to convert between, by a webhook.
	converts bool
}

var (
	v1beta1Only = release{dir: "capi-v1beta1"}
	today       = release{dir: "capi", converts: true}
)

// install applies the definitions of a release and then starts its core manager,
// in the order of clusterctl.
func (r release) install(t *testing.T) *process.Process {
	t.Helper()
	webhook := hardware.FreePort(t)
	certificates, authority := certificate(t)
	r.define(t, webhook, authority)
	health := net.JoinHostPort("127.0.0.1", strconv.Itoa(hardware.FreePort(t)))
	core, err := process.Start(hardware.Context(t), process.Options{
		Name: "Cluster API core of " + r.dir,
		Path: filepath.Join(bin, r.dir, "core"),
		Args: []string{
			"--kubeconfig=" + hardware.Get(t).Management().Kubeconfig(),
			"--health-addr=" + health,
			"--diagnostics-address=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(hardware.FreePort(t))),
			"--insecure-diagnostics",
			fmt.Sprintf("--webhook-port=%d", webhook),
			"--webhook-cert-dir=" + certificates,
		},
		Env:   []string{"POD_NAMESPACE=capi-system", "POD_NAME=capi-controller-manager", "POD_UID=capi-controller-manager"},
		Log:   filepath.Join(hardware.Get(t).Management().Logs(), r.dir+".log"),
		Ready: process.HTTPReady("http://" + health + "/readyz"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := core.Stop(); err != nil {
			t.Error(err)
		}
	})
	return core
}

// define applies the definitions of Cluster API's core.
func (r release) define(t *testing.T, webhook int, authority []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(bin, r.dir, "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s/%s/crds (%v): run `make build`", bin, r.dir, err)
	}
	var manifest []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		group, _, _ := strings.Cut(filepath.Base(file), "_")
		switch group {
		case "bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io":
			continue // of providers
		}
		if r.converts {
			content = converted(t, content, webhook, authority)
		}
		manifest = append(manifest, string(content))
	}
	text := []byte(strings.Join(manifest, "\n---\n"))
	if err := hardware.Get(t).Management().Apply(hardware.Context(t), text); err != nil {
		t.Fatal(err)
	}
}

// converted has a definition's versions converted by the manager's webhook, as
// in Cluster API's own manifests.
func converted(t *testing.T, content []byte, webhook int, authority []byte) []byte {
	t.Helper()
	var definition map[string]any
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	spec, ok := definition["spec"].(map[string]any)
	if !ok {
		t.Fatal("a definition has no spec")
	}
	spec["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []string{"v1"},
		"clientConfig":             map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d/convert", webhook), "caBundle": authority},
	}}
	text, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// certificate makes a directory with the webhook server's certificate and key,
// and returns also what signs it.
func certificate(t *testing.T) (dir string, authority []byte) {
	t.Helper()
	signed, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, content := range map[string][]byte{"tls.crt": signed, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, signed
}

// SPDX-License-Identifier: Apache-2.0

// Package providers_test runs the example providers as their readers do: applied
// with kubectl, as processes, under their own accounts, beside the whole of
// 5-Spot but for the providers that it ships.
package providers_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/internal/process"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	localclustertest.Main(m, localcluster.Options{WithoutCAPI: true, WithoutProviders: true})
}

// example is one of the providers, and how to run it outside a pod.
type example struct {
	dir       string // also its name
	manifests string // what is applied, below dir
	namespace string // of its service account
	account   string
	command   func(t *testing.T, e example) process.Options
}

// manual are the guide's ManualSchedule three ways. One at a time may run.
var manual = []example{
	{dir: "manual-go", namespace: "5spot-system", account: "manual-schedule-provider", command: goProgram},
	{dir: "manual-controller-runtime", namespace: "5spot-system", account: "manual-schedule-provider", command: goProgram},
	{dir: "manual-shell", namespace: "5spot-system", account: "manual-schedule-provider", command: shellScript},
}

// queueDepth has a kind of its own, and so may run beside another.
var queueDepth = example{dir: "queue-depth", manifests: "deploy", namespace: "5spot-system", account: "queue-depth-provider", command: goProgram}

// goProgram runs what is built outside this module, once.
func goProgram(t *testing.T, e example) process.Options {
	t.Helper()
	binary := filepath.Join(localclustertest.Cluster(t).Dir(), "examples", e.dir)
	if _, err := os.Stat(binary); err != nil {
		build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-o", binary, ".")
		build.Dir = e.dir
		build.Env = append(os.Environ(), "GOWORK=off")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", e.dir, err, output)
		}
	}
	kubeconfig, err := localclustertest.Cluster(t).ServiceAccountKubeconfig(localclustertest.Context(t), e.namespace, e.account)
	if err != nil {
		t.Fatal(err)
	}
	return process.Options{
		Path: binary,
		Args: []string{"--kubeconfig=" + kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"},
	}
}

// shellScript runs provider.sh as its README says.
func shellScript(t *testing.T, e example) process.Options {
	t.Helper()
	config, err := localclustertest.Cluster(t).ServiceAccountConfig(localclustertest.Context(t), e.namespace, e.account)
	if err != nil {
		t.Fatal(err)
	}
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, config.CAData, 0o600); err != nil {
		t.Fatal(err)
	}
	return process.Options{
		Path: "/bin/sh",
		Args: []string{filepath.Join(e.dir, "provider.sh")},
		Env:  []string{"API_SERVER=" + config.Host, "TOKEN_FILE=" + config.BearerTokenFile, "CA_FILE=" + authority},
	}
}

// start runs an example until the end of the test, or until it is stopped.
func (e example) start(t *testing.T) *process.Process {
	t.Helper()
	o := e.command(t, e)
	o.Name, o.Log = e.dir, filepath.Join(t.TempDir(), "log")
	p, err := process.Start(localclustertest.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stopping %s: %v", e.dir, err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(p.Log())
			t.Logf("the end of the log of %s:\n%s", e.dir, text[max(0, len(text)-4096):])
		}
	})
	return p
}

// stop stops a provider and checks that it ended in good order.
func stop(t *testing.T, p *process.Process) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	var ended *process.ExitError
	if errors.As(p.Err(), &ended); ended == nil || ended.State != "exit status 0" {
		t.Errorf("%s ended with %v, want exit status 0", p.Name(), p.Err())
	}
}

// install applies what the example's kustomization says.
func (e example) install(t *testing.T) {
	t.Helper()
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-k", filepath.Join(e.dir, e.manifests))
}

// kubectl runs the one that is built here as the administrator, and returns what
// it prints.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	var output, complaints bytes.Buffer
	command := exec.CommandContext(localclustertest.Context(t), "../../bin/kubectl", args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+localclustertest.Cluster(t).Kubeconfig(),
		"KUBECACHEDIR="+filepath.Join(localclustertest.Cluster(t).Dir(), "kubectl-cache"))
	command.Stdout, command.Stderr = &output, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s%s", args, err, output.String(), complaints.String())
	}
	return output.String()
}

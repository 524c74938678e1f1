// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

// fiveSpot is the 5-Spot controller, a process that runs while a test needs it.
var fiveSpot struct {
	sync.Mutex

	users   int
	process *process.Process
}

// runFiveSpot has the controller run, as its own account, until the end of the test.
func runFiveSpot(t *testing.T) {
	t.Helper()
	fiveSpot.Lock()
	defer fiveSpot.Unlock()
	if fiveSpot.users == 0 {
		dir, err := os.MkdirTemp("", "controller-") //nolint:usetesting // it may outlive the test that starts it
		if err != nil {
			t.Fatal(err)
		}
		fiveSpot.process = startProgram(t, "../../bin/controller", dir, accountConfig(t, "5spot-system", "5spot-controller"))
	}
	fiveSpot.users++
	t.Cleanup(func() {
		fiveSpot.Lock()
		defer fiveSpot.Unlock()
		if fiveSpot.users--; fiveSpot.users > 0 {
			return
		}
		if err := fiveSpot.process.Stop(); err != nil {
			t.Errorf("stopping the controller: %v", err)
		}
		os.RemoveAll(filepath.Dir(fiveSpot.process.Log()))
	})
}

// startProgram starts a program with a kubeconfig, whose files go to dir.
func startProgram(t *testing.T, path, dir string, config *rest.Config) *process.Process {
	t.Helper()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfigOf(config), kubeconfig); err != nil {
		t.Fatal(err)
	}
	started, err := process.Start(devplanetest.Context(t), process.Options{
		Name: filepath.Base(path), Path: path, Log: filepath.Join(dir, "log"),
		Args: []string{"--kubeconfig=" + kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return started
}

func kubeconfigOf(config *rest.Config) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {
			Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
}

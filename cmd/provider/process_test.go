// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

// asProvider makes the test binary be the program itself.
const asProvider = "TEST_AS_PROVIDER"

func TestMain(m *testing.M) {
	if os.Getenv(asProvider) != "" {
		main()
		return
	}
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.Deployed("controller/namespace.yaml", "spot-schedule-providers/manual/rbac.yaml"))
}

// program is a provider in a process of its own.
type program struct {
	*process.Process
	metrics, health string
}

func startProgram(t *testing.T) program {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := program{metrics: freeAddress(t), health: freeAddress(t)}
	p.Process, err = process.Start(devplanetest.Context(t), process.Options{
		Name: "provider",
		Path: executable,
		Args: []string{
			"--kinds=ManualSchedule",
			"--kubeconfig=" + accountKubeconfig(t),
			"--metrics-bind-address=" + p.metrics,
			"--health-probe-bind-address=" + p.health,
		},
		Env:   []string{asProvider + "=1"},
		Log:   filepath.Join(t.TempDir(), "log"),
		Ready: process.HTTPReady("http://" + p.health + "/readyz"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stopping the provider: %v", err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(p.Log())
			t.Logf("its log:\n%s", text)
		}
	})
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// accountKubeconfig writes a kubeconfig of the shipped service account.
func accountKubeconfig(t *testing.T) string {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), "5spot-system", "manual-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfigOf(config), path); err != nil {
		t.Fatal(err)
	}
	return path
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

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v:\n%s", url, response.Status, err, body)
	}
	return string(body)
}

func TestTheProgramUnderTheShippedRights(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	provider := startProgram(t)
	s := &v1alpha1.ManualSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "desk-override"},
		Spec:       v1alpha1.ManualScheduleSpec{Enabled: true},
	}
	if err := devplanetest.Client(t).Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	devplanetest.Await(t, s, func() error {
		if s.Status.Active == nil || !*s.Status.Active {
			return fmt.Errorf("status %+v", s.Status)
		}
		return nil
	})

	if got := get(t, "http://"+provider.health+"/healthz"); got != "ok" {
		t.Errorf("/healthz: %s", got)
	}
	series := fmt.Sprintf("fivespot_schedule_active{kind=%q,name=%q,namespace=%q} 1", "ManualSchedule", s.Name, namespace)
	// It is written after the status is, which nothing tells of.
	err := wait.PollUntilContextCancel(devplanetest.Context(t), 50*time.Millisecond, true, func(context.Context) (bool, error) {
		return strings.Contains(get(t, "http://"+provider.metrics+"/metrics"), series), nil
	})
	if err != nil {
		t.Errorf("/metrics does not show %s", series)
	}
	onlyItsKindIsAskedFor(t)

	if err := provider.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), devplanetest.Patience)
	defer cancel()
	select {
	case <-provider.Done():
	case <-ctx.Done():
		t.Fatal("it does not stop")
	}
	var ended *process.ExitError
	if errors.As(provider.Err(), &ended); ended == nil || ended.State != "exit status 0" {
		t.Errorf("it ended with %v, want exit status 0", provider.Err())
	}
	text, err := os.ReadFile(provider.Log())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"level":"error"`) {
		t.Errorf("its log has errors:\n%s", text)
	}
}

// onlyItsKindIsAskedFor looks through the audit log of the whole test binary.
func onlyItsKindIsAskedFor(t *testing.T) {
	t.Helper()
	plane := devplanetest.Plane(t)
	reader := devplane.OpenAuditLog(plane.AuditLog())
	defer reader.Close()
	events, err := plane.AuditUntilNow(devplanetest.Context(t), reader)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range events {
		if e.User != "system:serviceaccount:5spot-system:manual-schedule-provider" || e.Resource == "" {
			continue
		}
		seen++
		if e.Resource != "manualschedules" || e.Code >= 400 {
			t.Errorf("it asked to %s %s/%s: %d", e.Verb, e.Resource, e.Subresource, e.Code)
		}
	}
	if seen == 0 {
		t.Error("the audit log has no request of the provider")
	}
}

// SPDX-License-Identifier: Apache-2.0

package devplane_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

// start starts a control plane of the test's own, with what a user gets.
func start(t *testing.T, dir string) *devplane.Plane {
	t.Helper()
	p, err := devplane.Start(t.Context(), devplane.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestKilledAndStartedAgainKeepsDataAndCredentials(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	c := devplanetest.ClientFor(t, first.Config())
	sa := &corev1.ServiceAccount{}
	sa.Namespace, sa.Name = "default", "keeper"
	written := configMap("default", "kept")
	written.Data = map[string]string{"answer": "42"}
	for _, object := range []client.Object{sa, written} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	account, err := first.ServiceAccountConfig(t.Context(), "default", "keeper")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := first.Config()

	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if first.Err() == nil {
		t.Error("a killed control plane has no error")
	}
	start(t, dir)

	read := configMap("default", "kept")
	if err := devplanetest.ClientFor(t, kubeconfig).Get(t.Context(), client.ObjectKeyFromObject(read), read); err != nil {
		t.Fatalf("reading with the old kubeconfig what was written before: %v", err)
	}
	if diff := cmp.Diff(written, read); diff != "" {
		t.Errorf("it is not as written (-written +read):\n%s", diff)
	}
	if got, want := whoAmI(t, account), "system:serviceaccount:default:keeper"; got != want {
		t.Errorf("by the old token the user is %q, want %q", got, want)
	}
}

func TestPortOfTheLastRunTaken(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	address := host(t, first.Config())
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	second := start(t, dir)
	if host(t, second.Config()) == address {
		t.Errorf("the second run, too, says that it listens on %s", address)
	}
	onDisk, err := clientcmd.BuildConfigFromFlags("", second.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if got := whoAmI(t, onDisk); got != "kubernetes-admin" {
		t.Errorf("by the kubeconfig the user is %q, want kubernetes-admin", got)
	}
}

func TestSecondStartOnTheSameDirectoryIsRefused(t *testing.T) {
	running := devplanetest.Plane(t)
	second, err := devplane.Start(t.Context(), devplane.Options{Dir: running.Dir()})
	if err == nil {
		t.Fatal(errors.Join(errors.New("it was started"), second.Stop()))
	}
	if _, ended := errors.AsType[*process.ExitError](err); !ended {
		t.Errorf("got an error of type %T, want a *process.ExitError", err)
	}
	want := fmt.Sprintf("a control plane (process %d) already runs on %s: stop it first or choose another --dir", running.PID(), running.Dir())
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := whoAmI(t, running.Config()); got != "kubernetes-admin" {
		t.Errorf("the one that runs now says that the user is %q", got)
	}
}

func TestStopLeavesNothingBehind(t *testing.T) {
	p := start(t, t.TempDir())
	address := host(t, p.Config())
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	// The group is that of the process and of every child it ever had.
	if err := syscall.Kill(-p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("asking for its process group: got %v, want ESRCH", err)
	}
	if connection, err := net.Dial("tcp", address); err == nil {
		connection.Close()
		t.Errorf("something still listens on %s", address)
	}
	if want := "exit status 0"; !strings.Contains(p.Err().Error(), want) {
		t.Errorf("it ended with %v, want %s", p.Err(), want)
	}
}

func TestOnlyTheOwnerMayReadTheKubeconfig(t *testing.T) {
	info, err := os.Stat(devplanetest.Plane(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode is %o, want 600", got)
	}
}

func TestServerSaysWhichKubernetesItIs(t *testing.T) {
	version := serverVersion(t, devplanetest.Plane(t).Config())
	if !strings.HasPrefix(version.GitVersion, "v1."+version.Minor+".") || version.Major != "1" {
		t.Errorf("it says %s.%s and %s, which do not agree", version.Major, version.Minor, version.GitVersion)
	}
}

func TestStartWithoutADirectory(t *testing.T) {
	_, err := devplane.Start(t.Context(), devplane.Options{})
	if err == nil || !strings.Contains(err.Error(), "the directory is missing") {
		t.Errorf("got %v, want that the directory is missing", err)
	}
}

func host(t *testing.T, config *rest.Config) string {
	t.Helper()
	server, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	return server.Host
}

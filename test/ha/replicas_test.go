// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

// replicas are processes of the controller that share work.
type replicas struct {
	*testing.T
	dir, kubeconfig string
	args            []string
	running         map[string]*process.Process
}

// newReplicas prepares replicas with flags. What an earlier test has left of
// leases is removed.
func newReplicas(t *testing.T, args ...string) *replicas {
	t.Helper()
	if err := devplanetest.Client(t).DeleteAllOf(t.Context(), &coordinationv1.Lease{}, client.InNamespace(systemNamespace)); err != nil {
		t.Fatal(err)
	}
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), systemNamespace, "5spot-controller")
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{T: t, dir: t.TempDir(), args: args, running: map[string]*process.Process{}}
	r.kubeconfig = filepath.Join(r.dir, "kubeconfig")
	if err := writeKubeconfig(config, r.kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name := range r.running {
			r.stop(name)
		}
		if t.Failed() {
			r.showLogs()
		}
	})
	return r
}

func writeKubeconfig(config *rest.Config, path string) error {
	all := clientcmdapi.NewConfig()
	all.Clusters["plane"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}
	all.AuthInfos["controller"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	all.Contexts["controller"] = &clientcmdapi.Context{Cluster: "plane", AuthInfo: "controller"}
	all.CurrentContext = "controller"
	return clientcmd.WriteToFile(*all, path)
}

// start starts a replica. Its program bears the replica's name, and so does its
// user agent.
func (r *replicas) start(name string, more ...string) {
	r.Helper()
	program, err := filepath.Abs("../../bin/controller")
	if err != nil {
		r.Fatal(err)
	}
	link := filepath.Join(r.dir, name)
	if err := os.Symlink(program, link); err != nil && !errors.Is(err, os.ErrExist) {
		r.Fatal(err)
	}
	args := append([]string{"--kubeconfig=" + r.kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"}, r.args...)
	r.running[name], err = process.Start(r.Context(), process.Options{
		Name: name, Path: link, Args: append(args, more...),
		Env: []string{"POD_NAME=" + name},
		Log: r.log(name),
	})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *replicas) log(name string) string { return filepath.Join(r.dir, name+".log") }

// kill ends a replica at once.
func (r *replicas) kill(name string) {
	r.Helper()
	if err := r.running[name].Kill(); err != nil {
		r.Fatal(err)
	}
	delete(r.running, name)
}

// stop ends a replica in good order.
func (r *replicas) stop(name string) {
	r.Helper()
	if err := r.running[name].Stop(); err != nil {
		r.Error(err)
	}
	delete(r.running, name)
}

func (r *replicas) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(r.dir, "*.log"))
	for _, log := range logs {
		text, _ := os.ReadFile(log)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		r.Logf("%s:\n%s", filepath.Base(log), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
}

// replicaOf returns which replica made a request; "" if none did.
func (r *replicas) replicaOf(e devplane.AuditEvent) string {
	name, _, _ := strings.Cut(e.UserAgent, "/")
	if _, err := os.Lstat(filepath.Join(r.dir, name)); err != nil || name == "" || name == "kubeconfig" {
		return ""
	}
	return name
}

// awaitLeases watches the leases of the system's namespace until check, which is
// given all of them by name, returns nil.
func awaitLeases(t *testing.T, check func(map[string]*coordinationv1.Lease) error) map[string]*coordinationv1.Lease {
	t.Helper()
	ctx, c := devplanetest.Context(t), devplanetest.Client(t)
	var list coordinationv1.LeaseList
	if err := c.List(ctx, &list, client.InNamespace(systemNamespace)); err != nil {
		t.Fatal(err)
	}
	changes, err := c.Watch(ctx, &coordinationv1.LeaseList{}, client.InNamespace(systemNamespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	leases := map[string]*coordinationv1.Lease{}
	for i := range list.Items {
		leases[list.Items[i].Name] = &list.Items[i]
	}
	for {
		problem := check(leases)
		if problem == nil {
			return leases
		}
		event, open := <-changes.ResultChan()
		if !open {
			t.Fatalf("waiting for leases: %v", problem)
		}
		lease, ok := event.Object.(*coordinationv1.Lease)
		switch {
		case !ok:
			t.Fatalf("watching leases: %v", event.Object)
		case event.Type == watch.Deleted:
			delete(leases, lease.Name)
		default:
			leases[lease.Name] = lease
		}
	}
}

// anyLeases accepts whatever leases there are.
func anyLeases(map[string]*coordinationv1.Lease) error { return nil }

// holder returns who holds a lease; "" if nobody does.
func holder(lease *coordinationv1.Lease) string {
	if lease == nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// awaitLeader waits until somebody other than before holds the leader's lease.
func awaitLeader(t *testing.T, before string) string {
	t.Helper()
	leases := awaitLeases(t, func(leases map[string]*coordinationv1.Lease) error {
		if now := holder(leases["5spot-leader"]); now == "" || now == before {
			return fmt.Errorf("the leader is %q", now)
		}
		return nil
	})
	return holder(leases["5spot-leader"])
}

// awaitFile waits until check, which reads a file, returns nil.
func awaitFile(t *testing.T, path string, check func() error) {
	t.Helper()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	ctx := devplanetest.Context(t)
	for {
		problem := check()
		if problem == nil {
			return
		}
		select {
		case <-watcher.Events:
		case err := <-watcher.Errors:
			t.Fatal(err)
		case <-ctx.Done():
			t.Fatal(problem)
		}
	}
}

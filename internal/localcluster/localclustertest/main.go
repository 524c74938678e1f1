// SPDX-License-Identifier: Apache-2.0

// Package localclustertest gives the tests of a package one real whole: control
// plane, Cluster API, controller and providers:
//
//	func TestMain(m *testing.M) { localclustertest.Main(m, localcluster.Options{}) }
//
//	func TestSomething(t *testing.T) {
//		namespace := localclustertest.WorkloadCluster(t)
//		c := localclustertest.Cluster(t).Client()
//		...
//	}
//
// Tests share it, so each works in a namespace of its own.
//
// It is for tests only.
package localclustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fivespot/fivespot/internal/localcluster"
)

// Patience bounds every wait for what is certain to come on a cluster that is
// well. It is no part of a verdict about time.
const Patience = 2 * time.Minute

// WorkloadClusterName is the name of the clusters that WorkloadCluster makes.
const WorkloadClusterName = "workload"

// cluster is that of the test binary; Main sets it once.
var cluster *localcluster.Cluster

// Main starts a cluster with these options, runs the tests and ends the
// process. The directory is a temporary one, and stays for a look at the logs
// when a test fails. Where a program is missing it fails and says what to run;
// it never skips.
func Main(m *testing.M, o localcluster.Options) {
	os.Exit(run(m, o))
}

func run(m *testing.M, o localcluster.Options) (code int) {
	dir, err := os.MkdirTemp("", "fivespot-")
	if err != nil {
		return failed(err)
	}
	defer func() {
		if code == 0 {
			os.RemoveAll(dir)
		} else {
			fmt.Fprintln(os.Stderr, "localclustertest: the logs are in", dir+"/logs")
		}
	}()
	o.Dir, o.NoFsync = dir, true
	if cluster, err = localcluster.Start(context.Background(), o); err != nil {
		return failed(err)
	}
	code = m.Run()
	if err := errors.Join(cluster.Err(), cluster.Stop()); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "localclustertest:", err)
	return 1
}

// Cluster returns the cluster that Main started.
func Cluster(t testing.TB) *localcluster.Cluster {
	t.Helper()
	if cluster == nil {
		t.Fatal("there is no cluster: call localclustertest.Main from TestMain")
	}
	return cluster
}

// Context returns a context that ends with the test or after Patience.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Namespace makes a namespace with a name of its own.
func Namespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{}
	namespace.GenerateName = "test-"
	if err := Cluster(t).Client().Create(Context(t), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// WorkloadCluster makes a namespace and in it a workload cluster named
// WorkloadClusterName, and returns the namespace when the cluster is available.
func WorkloadCluster(t testing.TB) (namespace string) {
	t.Helper()
	namespace = Namespace(t)
	if err := Cluster(t).WorkloadCluster(Context(t), namespace, WorkloadClusterName); err != nil {
		t.Fatal(err)
	}
	return namespace
}

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
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fivespot/fivespot/internal/localcluster"
)

// Patience bounds every wait for what is certain to come on a cluster that is
// well. It is no part of a verdict about time.
const Patience = 3 * time.Minute

// WorkloadClusterName is the name of the clusters that WorkloadCluster makes.
const WorkloadClusterName = "workload"

// cluster is that of the test binary; Main sets it once.
var cluster *localcluster.Cluster

// Main starts a cluster with these options, runs the tests and ends the
// process. The directory is a temporary one, and stays for a look at the logs
// when a test fails. Where a program is missing it fails and says what to run;
// it never skips.
func Main(m *testing.M, o localcluster.Options) {
	MainWith(m, "localclustertest", "logs", func(dir string) (_ Whole, err error) {
		o.Dir, o.NoFsync = dir, true
		cluster, err = localcluster.Start(context.Background(), o)
		return cluster, err
	})
}

// A Whole is what the tests of a package share: a cluster, or one with more around it.
type Whole interface {
	// Err returns nil while every part runs, and else how one of them ended.
	Err() error
	// Stop ends every part.
	Stop() error
}

// MainWith is Main for a whole that start starts below a directory. name begins
// what is said; logs is where its logs are below the directory.
func MainWith(m *testing.M, name, logs string, start func(dir string) (Whole, error)) {
	os.Exit(run(m, name, logs, start))
}

func run(m *testing.M, name, logs string, start func(dir string) (Whole, error)) (code int) {
	failed := func(err error) int {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "fivespot-")
	if err != nil {
		return failed(err)
	}
	defer func() {
		if code == 0 {
			os.RemoveAll(dir)
		} else {
			fmt.Fprintln(os.Stderr, name+": the logs are in", filepath.Join(dir, logs))
		}
	}()
	whole, err := start(dir)
	if err != nil {
		return failed(err)
	}
	code = m.Run()
	if err := errors.Join(whole.Err(), whole.Stop()); err != nil {
		return failed(err)
	}
	return code
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

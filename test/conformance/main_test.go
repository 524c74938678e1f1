// SPDX-License-Identifier: Apache-2.0

// Package conformance_test has the conformance kit check itself, on a real
// control plane with the 5-Spot controller: every shipped kind passes, and of the
// providers that break one rule each fails the checks of that rule and no others.
package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	runAtOnce(8)
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.ClusterAPI("cluster.x-k8s.io_machines.*", "cluster.x-k8s.io_clusters.*"), // which the controller looks for
		devplanetest.Deployed("controller/namespace.yaml", "controller/rbac.yaml", "spot-schedule-providers/*/rbac.yaml"))
}

// runAtOnce has more tests run at the same time than there are cores, unless the
// command line says how many: these wait for most of the time.
func runAtOnce(count int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(count)); err != nil {
		panic(err)
	}
}

// sample reads a manifest of testdata.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// options are those of every run here. The bounds of what must come are wide, as
// these tests share two cores; the waits for what must not come are short.
func options(t *testing.T, kind string) conformance.Options {
	t.Helper()
	return conformance.Options{
		Config:      devplanetest.Plane(t).Config(),
		Kind:        kind,
		ReactWithin: 10 * time.Second,
		IdleFor:     time.Second,
		Patience:    12 * time.Second,
		Objects:     60,
	}
}

// accountConfig returns a configuration of the account.
func accountConfig(t *testing.T, namespace, name string) *rest.Config {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// SPDX-License-Identifier: Apache-2.0

// Package conformance_test has the conformance kit check itself, on a real
// control plane with the 5-Spot controller: every shipped kind passes, and of the
// providers that break one rule each fails the checks of that rule and no others.
package conformance_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	devplanetest.Main(m, devplanetest.CRDs, clusterAPI, accounts)
}

// clusterAPI installs those CRDs of Cluster API that the controller looks for.
func clusterAPI(p *devplane.Plane) error {
	var manifests []string
	for _, name := range []string{"cluster.x-k8s.io_machines.yaml", "cluster.x-k8s.io_clusters.yaml"} {
		content, err := os.ReadFile(filepath.Join("../../bin/capi/crds", name))
		if err != nil {
			return fmt.Errorf("%w: run `make build`", err)
		}
		manifests = append(manifests, string(content))
	}
	return devplanetest.Manifest([]byte(strings.Join(manifests, "\n---\n")))(p)
}

// accounts installs the accounts and rights of the controller and of every
// shipped kind.
func accounts(p *devplane.Plane) error {
	files, err := fs.Glob(deploy.FS, "spot-schedule-providers/*/rbac.yaml")
	if err != nil {
		return err
	}
	for _, file := range append([]string{"controller/namespace.yaml", "controller/rbac.yaml"}, files...) {
		content, err := fs.ReadFile(deploy.FS, file)
		if err != nil {
			return err
		}
		if err := devplanetest.Manifest(content)(p); err != nil {
			return fmt.Errorf("applying %s: %w", file, err)
		}
	}
	return nil
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

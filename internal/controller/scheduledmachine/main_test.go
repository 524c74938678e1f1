// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	devplanetest.Main(m, devplanetest.CRDs, clusterAPI, accounts)
}

// clusterAPI installs Cluster API's own CRDs. Its managers do not run here:
// these tests play their part, so that they can hold a machine in any state.
func clusterAPI(p *devplane.Plane) error {
	files, err := filepath.Glob("../../../bin/capi/crds/*.yaml")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("bin/capi/crds is empty: run `make build`")
	}
	var manifests []string
	for _, file := range files {
		switch name := filepath.Base(file); {
		case strings.HasPrefix(name, "cluster.x-k8s.io_machines."),
			strings.HasPrefix(name, "cluster.x-k8s.io_clusters."), strings.HasPrefix(name, "controlplane."),
			strings.HasPrefix(name, "bootstrap."), strings.HasPrefix(name, "infrastructure.cluster.x-k8s.io_devmachines."):
		default:
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		manifests = append(manifests, string(content))
	}
	return devplanetest.Manifest([]byte(strings.Join(manifests, "\n---\n")))(p)
}

// accounts installs the controller's own service account and rights.
func accounts(p *devplane.Plane) error {
	for _, file := range []string{"controller/namespace.yaml", "controller/rbac.yaml", "controller/workload-clusters.yaml", "controller/workload-clusters.yaml"} {
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

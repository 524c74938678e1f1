// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

const systemNamespace = "5spot-system"

func TestMain(m *testing.M) {
	devplanetest.Main(m, devplanetest.CRDs, clusterAPI, account)
}

// clusterAPI installs those of Cluster API's CRDs that the tests use.
func clusterAPI(p *devplane.Plane) error {
	files, err := filepath.Glob("../../bin/capi/crds/*.yaml")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("bin/capi/crds is empty: run `make build`")
	}
	var manifests []string
	for _, file := range files {
		name := filepath.Base(file)
		for _, prefix := range []string{
			"cluster.x-k8s.io_machines.", "cluster.x-k8s.io_clusters.",
			"bootstrap.cluster.x-k8s.io_kubeadmconfigs.", "infrastructure.cluster.x-k8s.io_devmachines.",
		} {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			manifests = append(manifests, string(content))
		}
	}
	return devplanetest.Manifest([]byte(strings.Join(manifests, "\n---\n")))(p)
}

// account installs the controller's service account and its rights.
func account(p *devplane.Plane) error {
	for _, file := range []string{"controller/namespace.yaml", "controller/rbac.yaml", "controller/leader-election.yaml"} {
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

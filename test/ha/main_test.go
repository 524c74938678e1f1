// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"testing"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

const systemNamespace = "5spot-system"

func TestMain(m *testing.M) {
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.ClusterAPI("cluster.x-k8s.io_machines.*", "cluster.x-k8s.io_clusters.*",
			"bootstrap.cluster.x-k8s.io_kubeadmconfigs.*", "infrastructure.cluster.x-k8s.io_devmachines.*"),
		devplanetest.Deployed("controller/namespace.yaml", "controller/rbac.yaml", "controller/leader-election.yaml"))
}

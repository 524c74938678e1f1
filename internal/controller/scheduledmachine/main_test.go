// SPDX-License-Identifier: Apache-2.0

package scheduledmachine_test

import (
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	devplanetest.Main(m, setups...)
}

// setups of a control plane. Cluster API's managers do not run there: these tests
// play their part, so that they can hold a machine in any state.
var setups = []devplanetest.Setup{
	devplanetest.CRDs,
	devplanetest.ClusterAPI("cluster.x-k8s.io_machines.*", "cluster.x-k8s.io_clusters.*", "controlplane.*", "bootstrap.*",
		"infrastructure.cluster.x-k8s.io_devmachines.*"),
	devplanetest.Deployed("controller/namespace.yaml", "controller/rbac.yaml", "controller/workload-clusters.yaml"),
}

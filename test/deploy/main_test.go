// SPDX-License-Identifier: Apache-2.0

// Package deploy checks the manifests that 5-Spot ships: by themselves, and as
// a real API server takes them.
package deploy

import (
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// config and cluster are a clean API server, as its admin sees it.
var (
	config  *rest.Config
	cluster client.WithWatch
)

func TestMain(m *testing.M) { devplanetest.Main(m, connect) }

func connect(plane *devplane.Plane) error {
	scheme, err := devplanetest.NewScheme()
	if err != nil {
		return err
	}
	config = plane.Config()
	cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return err
}

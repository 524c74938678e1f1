// SPDX-License-Identifier: Apache-2.0

// Package schema checks on a real API server what the CRDs accept, refuse,
// fill in, keep and show.
package schema

import (
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// config and cluster are the API server, as its admin sees it.
var (
	config  *rest.Config
	cluster client.WithWatch
)

func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs, connect) }

func connect(plane *devplane.Plane) error {
	scheme, err := devplanetest.NewScheme()
	if err != nil {
		return err
	}
	config = plane.Config()
	cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return err
}

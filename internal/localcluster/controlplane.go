// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"path/filepath"

	"github.com/fivespot/fivespot/internal/devplane"
)

// startControlPlane starts the control plane, or takes the existing one.
func (c *Cluster) startControlPlane(ctx context.Context) error {
	if c.options.Kubeconfig != "" {
		c.kubeconfig = c.options.Kubeconfig
		return nil
	}
	if err := checkBinaries(c.options.Binaries, "devplane"); err != nil {
		return err
	}
	c.kubeconfig = c.files.kubeconfig()
	part := c.newPart(PartControlPlane, func(ctx context.Context) (running, error) {
		plane, err := devplane.Start(ctx, devplane.Options{
			Dir:     c.options.Dir,
			Binary:  filepath.Join(c.options.Binaries, "devplane"),
			Log:     c.files.log("devplane"),
			NoFsync: c.options.NoFsync,
		})
		if err != nil {
			return nil, err // not a nil *Plane in an interface
		}
		return plane, nil
	})
	return c.startPart(ctx, part, c.kubeconfig)
}

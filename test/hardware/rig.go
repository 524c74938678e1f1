// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/process"
)

// Options say what to run.
type Options struct {
	// Workloads is the number of workload clusters' control planes. Zero: one.
	Workloads int
	// Management is how the management cluster is run; Dir, and what has to do
	// with in-memory machines, is set here.
	Management localcluster.Options
}

// A Rig is the management cluster, the workload clusters and the hardware.
type Rig struct {
	management *localcluster.Cluster
	workloads  []*Workload
	hardware   *controller

	mu    sync.Mutex
	wires []*Wire
}

// A Workload is the control plane of a workload cluster, and its kubelets.
type Workload struct {
	plane    *devplane.Plane
	kubelets *process.Process
	client   client.WithWatch
}

// Start starts the rig below a directory.
func Start(ctx context.Context, dir string, o Options) (*Rig, error) {
	r := &Rig{workloads: make([]*Workload, max(1, o.Workloads))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		r.management, err = startManagement(groupCtx, filepath.Join(dir, "management"), o.Management)
		return err
	})
	for i := range r.workloads {
		group.Go(func() (err error) {
			r.workloads[i], err = startWorkload(groupCtx, filepath.Join(dir, "workload-"+strconv.Itoa(i)))
			return err
		})
	}
	err := group.Wait()
	if err == nil {
		r.hardware, err = startController(ctx, r)
	}
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

//go:embed crds.yaml
var definitions []byte

func startManagement(ctx context.Context, dir string, o localcluster.Options) (*localcluster.Cluster, error) {
	o.Dir, o.NoFsync, o.WithoutWorkloadCluster = dir, true, true
	management, err := localcluster.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := management.Apply(ctx, definitions); err != nil {
		return nil, errors.Join(fmt.Errorf("defining the hardware: %w", err), management.Stop())
	}
	return management, nil
}

func startWorkload(ctx context.Context, dir string) (*Workload, error) {
	plane, err := devplane.Start(ctx, devplane.Options{Dir: dir, NoFsync: true, Disruption: true})
	if err != nil {
		return nil, err
	}
	w := &Workload{plane: plane}
	if w.client, err = client.NewWithWatch(plane.Config(), client.Options{Scheme: scheme.Scheme}); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	if w.kubelets, err = startKubelets(ctx, dir, plane.Kubeconfig()); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

// Client returns a client that may do everything in the workload cluster, by a
// connection that no Wire is in.
func (w *Workload) Client() client.WithWatch { return w.client }

func (w *Workload) err() error {
	if err := w.plane.Err(); err != nil {
		return err
	}
	return w.kubelets.Err()
}

func (w *Workload) stop() error {
	var err error
	if w.kubelets != nil {
		err = w.kubelets.Stop()
	}
	return errors.Join(err, w.plane.Stop())
}

// Management returns the management cluster.
func (r *Rig) Management() *localcluster.Cluster { return r.management }

// Workload returns the workload cluster of that number, from 0.
func (r *Rig) Workload(i int) *Workload { return r.workloads[i] }

// wire lays a wire to a workload cluster.
func (r *Rig) wire(to *Workload) (*Wire, error) {
	server, err := url.Parse(to.plane.Config().Host)
	if err != nil {
		return nil, fmt.Errorf("laying a wire: %w", err)
	}
	wire, err := newWire(server.Host)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wires = append(r.wires, wire)
	return wire, nil
}

// Err returns nil while every part runs, and else how one of them ended.
func (r *Rig) Err() error {
	errs := []error{r.management.Err()}
	for i, w := range r.workloads {
		if err := w.err(); err != nil {
			errs = append(errs, fmt.Errorf("workload cluster %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// Stop ends everything that has started.
func (r *Rig) Stop() error {
	var errs []error
	for _, wire := range r.wires { // an API server waits for who is connected to it
		errs = append(errs, wire.Refuse())
	}
	if r.hardware != nil {
		errs = append(errs, r.hardware.stop())
	}
	if r.management != nil {
		errs = append(errs, r.management.Stop())
	}
	for _, w := range r.workloads {
		if w != nil {
			errs = append(errs, w.stop())
		}
	}
	return errors.Join(errs...)
}

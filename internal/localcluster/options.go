// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"errors"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
)

// Options say what to run and where.
type Options struct {
	// Dir is the directory for all that is kept: data, credentials, logs, the
	// kubeconfig (required; made if need be). One Cluster at a time runs on it.
	Dir string

	// Binaries is the directory with the programs that `make build` makes.
	// Empty: that of the running program if controller is in it, else bin/ at
	// the root of the source tree that the working directory is in.
	Binaries string

	// Kubeconfig names a kubeconfig of an existing cluster to run our parts
	// against. Empty: a control plane of our own.
	Kubeconfig string

	// WithoutCAPI leaves Cluster API and the workload cluster out.
	WithoutCAPI bool
	// WithoutWorkloadCluster leaves only the workload cluster out.
	WithoutWorkloadCluster bool
	// WithoutController leaves the ScheduledMachine controller out.
	WithoutController bool
	// WithoutProviders leaves the schedule providers out.
	WithoutProviders bool

	// ControllerArgs are further arguments of the ScheduledMachine controller.
	ControllerArgs []string

	// NoFsync does not flush the data to the disk: for tests. It outlives a
	// killed process all the same, but not a crash of the machine.
	NoFsync bool

	// Ready is told of each part as soon as it is ready. May be nil.
	Ready func(PartReady)

	// Clock measures the times that Ready is told of and the life of tokens.
	// Nil: the real one.
	Clock clock.Clock
}

// PartReady says that a part is ready.
type PartReady struct {
	// Name is the name of the part, for example "control plane".
	Name string
	// After is how long it took.
	After time.Duration
	// Detail is where it is or what it holds; may be empty.
	Detail string
}

func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("the directory is missing: name one to keep data and logs in")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	if o.Binaries == "" {
		if o.Binaries, err = findBinaries(); err != nil {
			return o, err
		}
	}
	if o.Kubeconfig != "" {
		o.WithoutCAPI = true
	}
	if o.WithoutCAPI {
		o.WithoutWorkloadCluster = true
	}
	if o.Ready == nil {
		o.Ready = func(PartReady) {}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

// layout names the files in Options.Dir. The control plane keeps its own there
// too: kubeconfig, logs/audit.log and what its data is made of.
type layout string

func (l layout) lock() string           { return filepath.Join(string(l), "up.lock") }
func (l layout) kubeconfig() string     { return filepath.Join(string(l), "kubeconfig") }
func (l layout) auditLog() string       { return filepath.Join(l.logs(), "audit.log") }
func (l layout) credentials() string    { return filepath.Join(string(l), "credentials") }
func (l layout) certificates() string   { return filepath.Join(string(l), "webhook-certificates") }
func (l layout) logs() string           { return filepath.Join(string(l), "logs") }
func (l layout) log(name string) string { return filepath.Join(l.logs(), name+".log") }

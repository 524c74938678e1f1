// SPDX-License-Identifier: Apache-2.0

package devplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fivespot/fivespot/internal/process"
)

// Options say what to start.
type Options struct {
	// Dir keeps data, keys, logs and the kubeconfig (required). It is made if
	// need be. A second control plane on the same directory goes on where the
	// first ended, however that ended.
	Dir string
	// Binary is the program. Empty: devplane beside the running executable,
	// else bin/devplane in the source tree that the working directory is in.
	Binary string
	// Log is the file for what the program says. Empty: DIR/logs/devplane.log.
	Log string
	// Port to listen on. Zero: that of the last run on Dir if it is free, else
	// any free one.
	Port int
	// Disruption also runs the controller that keeps the status of
	// PodDisruptionBudgets.
	Disruption bool
	// NoFsync does not flush writes to the disk: for tests. Data outlives a
	// killed process all the same, but not a crash of the machine.
	NoFsync bool
}

// readyTimeout bounds a start. One takes about 3 s on two idle cores.
const readyTimeout = 2 * time.Minute

// stopTimeout is after SIGTERM; one takes about 1 s.
const stopTimeout = 30 * time.Second

// A Plane is a running control plane.
type Plane struct {
	dir     string
	process *process.Process
	config  *rest.Config
}

// Start starts a control plane and returns when it serves and its controllers
// run. It is stopped by Stop, not by ctx, and on Linux it also ends with this
// process. When the program ends before it is ready, the error is a
// *process.ExitError with its last words added.
func Start(ctx context.Context, o Options) (*Plane, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it was not ready within %s", readyTimeout))
	defer cancel()
	ready, err := readyFile(o.Dir)
	if err != nil {
		return nil, err
	}
	defer os.Remove(ready)

	started, err := process.Start(ctx, process.Options{
		Name:        "devplane",
		Path:        o.Binary,
		Args:        o.arguments(ready),
		Log:         o.Log,
		Ready:       func(context.Context) error { return filled(ready) },
		StopTimeout: stopTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", withLastWords(err))
	}
	p := &Plane{dir: o.Dir, process: started}
	if p.config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig()); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the kubeconfig of the control plane: %w", err), p.Stop())
	}
	p.config.QPS = -1
	return p, nil
}

func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("starting a control plane: the directory is missing: name one to keep data and logs in")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("starting a control plane: %w", err)
	}
	o.Dir = dir
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return o, fmt.Errorf("starting a control plane: %w", err)
	}
	if o.Log == "" {
		o.Log = filepath.Join(o.Dir, "logs", "devplane.log")
	}
	if o.Binary == "" {
		if o.Binary, err = findBinary(); err != nil {
			return o, fmt.Errorf("starting a control plane: %w", err)
		}
	}
	return o, nil
}

func (o Options) arguments(ready string) []string {
	return []string{
		"--dir=" + o.Dir,
		fmt.Sprintf("--port=%d", o.Port),
		fmt.Sprintf("--disruption-controller=%t", o.Disruption),
		fmt.Sprintf("--fsync=%t", !o.NoFsync),
		"--ready-file=" + ready,
	}
}

// readyFile makes an empty file which the program fills when it is ready. Its
// name is new, so that it can be no other process's that is meant.
func readyFile(dir string) (string, error) {
	file, err := os.CreateTemp(dir, "ready-*")
	if err != nil {
		return "", fmt.Errorf("starting a control plane: %w", err)
	}
	return file.Name(), file.Close()
}

func filled(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return errors.New("it has not said so yet")
	}
	return nil
}

// withLastWords adds the last line of the log to the error of a process that
// ended, for there it says why.
func withLastWords(err error) error {
	ended, is := errors.AsType[*process.ExitError](err)
	if !is {
		return err
	}
	for _, line := range ended.LogEnd(1) {
		err = fmt.Errorf("%w; its last words: %s", err, line)
	}
	return err
}

// Dir returns the directory that the control plane keeps everything in.
func (p *Plane) Dir() string { return p.dir }

// PID returns the id of the process, also after its end.
func (p *Plane) PID() int { return p.process.PID() }

// Log returns the path of the file with what the program says.
func (p *Plane) Log() string { return p.process.Log() }

// Kubeconfig returns the path of the admin's kubeconfig.
func (p *Plane) Kubeconfig() string { return filepath.Join(p.dir, "kubeconfig") }

// Done returns a channel that is closed when the control plane has ended.
func (p *Plane) Done() <-chan struct{} { return p.process.Done() }

// Err returns nil while the control plane runs and a *process.ExitError once it
// has ended, whatever it was that ended it.
func (p *Plane) Err() error { return p.process.Err() }

// Stop ends the control plane in good order; its data stays. Stopping one that
// has ended does nothing.
func (p *Plane) Stop() error { return p.process.Stop() }

// Kill ends the control plane at once, as a crash would; its data stays.
func (p *Plane) Kill() error { return p.process.Kill() }

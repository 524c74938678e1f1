// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Options say what to run.
type Options struct {
	// Name is what messages call the process (required).
	Name string
	// Path is the program (required), Args its arguments without the program's name.
	Path string
	Args []string
	// Env is added to the environment of this process; later entries win.
	Env []string
	// Dir is the working directory. Empty: that of this process.
	Dir string
	// Log is the file that standard output and standard error are appended to
	// (required). Its directory is made if need be.
	Log string
	// Ready returns nil once the process does its work. It is asked again and
	// again until then, with a context that ends with the process. Nil: ready
	// as soon as it runs.
	Ready func(ctx context.Context) error
	// StopTimeout bounds an orderly end after SIGTERM; SIGKILL follows. Zero: 10 s.
	StopTimeout time.Duration
}

const (
	defaultStopTimeout = 10 * time.Second
	// readyInterval is the pause between two questions; a process that listens
	// has no event for "now I do".
	readyInterval = 50 * time.Millisecond
)

// Process is a child process that was started.
type Process struct {
	options Options
	command *exec.Cmd
	done    chan struct{} // closed once command.ProcessState is there
}

// Start starts the process and returns when it is ready. If it ends before
// that, the error is an *ExitError; if ctx ends before that, the process is
// stopped and the error says what it was not ready for.
func Start(ctx context.Context, o Options) (*Process, error) {
	if o.StopTimeout == 0 {
		o.StopTimeout = defaultStopTimeout
	}
	p := &Process{options: o, done: make(chan struct{})}
	if err := p.spawn(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Name, err)
	}
	if err := p.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// spawn starts the child and a goroutine that waits for its end.
func (p *Process) spawn() error {
	log, err := openLog(p.options.Log)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own
	p.command = exec.Command(p.options.Path, p.options.Args...)
	p.command.Dir = p.options.Dir
	p.command.Env = append(os.Environ(), p.options.Env...)
	p.command.Stdout = log
	p.command.Stderr = log
	p.command.SysProcAttr = attributes()

	started := make(chan error)
	go func() {
		// The kernel ties "dies with its parent" to the thread that started the
		// child, so that thread stays for as long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err != nil {
			return
		}
		_ = p.command.Wait() // what it says is in ProcessState
		close(p.done)
	}()
	return <-started
}

func (p *Process) awaitReady(ctx context.Context) error {
	if p.options.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := p.options.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.Err()
		case <-ctx.Done():
			if ended := p.Err(); ended != nil {
				return ended
			}
			return fmt.Errorf("waiting for %s to be ready: %w (%w); its log is %s", p.options.Name, context.Cause(ctx), err, p.options.Log)
		case <-ticker.C:
		}
	}
}

// Name returns the name that the process was given.
func (p *Process) Name() string { return p.options.Name }

// PID returns the id of the process, also after its end.
func (p *Process) PID() int { return p.command.Process.Pid }

// Log returns the path of the file with the output of the process.
func (p *Process) Log() string { return p.options.Log }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns nil while the process runs and an *ExitError once it has ended,
// whatever it was that ended it.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return &ExitError{Name: p.options.Name, State: p.command.ProcessState.String(), LogPath: p.options.Log}
	default:
		return nil
	}
}

// Stop ends the process in good order and, if it does not end within its
// timeout, at once; then it returns an error that says so. Stopping a process
// that has ended does nothing.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(err, p.Kill())
	}
	timer := time.NewTimer(p.options.StopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return errors.Join(fmt.Errorf("stopping %s: it did not end within %s of SIGTERM and was killed", p.options.Name, p.options.StopTimeout), p.Kill())
	}
}

// Kill ends the process at once and returns when it has ended.
func (p *Process) Kill() error {
	if err := p.Signal(os.Kill); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Signal sends a signal. It does nothing if the process has ended.
func (p *Process) Signal(signal os.Signal) error {
	err := p.command.Process.Signal(signal)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to %s: %w", signal, p.options.Name, err)
	}
	return nil
}

// maxLog is the size from which the log of earlier runs is set aside.
const maxLog = 16 << 20

// openLog opens the file for appending, so that the words of a run that was
// killed are still there after the next start.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of the log: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("setting the old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return file, nil
}

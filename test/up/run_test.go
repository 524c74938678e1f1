// SPDX-License-Identifier: Apache-2.0

package up_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// patience bounds waits for what is certain to come; it is no part of a verdict.
const patience = 3 * time.Minute

// A run is one run of bin/fivespot.
type run struct {
	t       *testing.T
	dir     string
	command *exec.Cmd
	lines   chan string // of standard output; closed at its end
	stderr  lockedBuffer
	ended   chan error
}

// fivespot starts bin/fivespot with a verb, --dir and further arguments.
func fivespot(t *testing.T, dir, verb string, arguments ...string) *run {
	t.Helper()
	program, err := filepath.Abs("../../bin/fivespot")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not there: run `make build`", program)
	}
	r := &run{t: t, dir: dir, lines: make(chan string, 1000), ended: make(chan error, 1)}
	r.command = exec.Command(program, append([]string{verb, "--dir=" + dir}, arguments...)...)
	r.command.Stderr = &r.stderr
	output, err := r.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go r.read(output)
	t.Cleanup(func() {
		_ = r.command.Process.Kill() // it may have ended long ago
		if t.Failed() {
			t.Logf("what it said on standard error:\n%s", r.stderr.String())
		}
	})
	return r
}

func (r *run) read(output io.Reader) {
	scanner := bufio.NewScanner(output)
	for scanner.Scan() {
		r.lines <- scanner.Text()
	}
	close(r.lines)
	r.ended <- r.command.Wait()
}

// awaitLine returns the lines up to and with the one that begins with prefix.
func (r *run) awaitLine(prefix string) []string {
	r.t.Helper()
	timeout := time.After(patience)
	var lines []string
	for {
		select {
		case line, more := <-r.lines:
			if !more {
				r.t.Fatalf("it ended without saying %q; it said:\n%s\n%s", prefix, strings.Join(lines, "\n"), r.stderr.String())
			}
			lines = append(lines, line)
			if strings.HasPrefix(line, prefix) {
				return lines
			}
		case <-timeout:
			r.t.Fatalf("it has not said %q within %s; it said:\n%s\n%s", prefix, patience, strings.Join(lines, "\n"), r.stderr.String())
		}
	}
}

// up is awaitLine for the line that says that everything runs.
func (r *run) up() []string {
	r.t.Helper()
	return r.awaitLine("Everything runs")
}

// awaitEnd returns the exit status and the rest of the lines.
func (r *run) awaitEnd() (status int, lines []string) {
	r.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, more := <-r.lines:
			if more {
				lines = append(lines, line)
				continue
			}
			err := <-r.ended
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				r.t.Fatal(err)
			}
			return r.command.ProcessState.ExitCode(), lines
		case <-timeout:
			r.t.Fatalf("it has not ended within %s", patience)
		}
	}
}

func (r *run) signal(signal os.Signal) {
	r.t.Helper()
	if err := r.command.Process.Signal(signal); err != nil {
		r.t.Fatal(err)
	}
}

// stop stops it as a person does, and fails the test if that does not go well.
func (r *run) stop() {
	r.t.Helper()
	r.signal(syscall.SIGINT)
	if status, _ := r.awaitEnd(); status != 0 {
		r.t.Errorf("stopped by Ctrl-C, it ended with status %d:\n%s", status, r.stderr.String())
	}
}

func (r *run) pid() int { return r.command.Process.Pid }

// client returns an administrator's client by the kubeconfig that it wrote.
func (r *run) client() client.WithWatch {
	r.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(r.dir, "kubeconfig"))
	if err != nil {
		r.t.Fatal(err)
	}
	return devplanetest.ClientFor(r.t, config)
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

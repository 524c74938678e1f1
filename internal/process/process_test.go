// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/process"
)

// The test program is its own child: what it does then is in this variable.
const roleVariable = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		return
	}
	os.Exit(m.Run())
}

// patience bounds waits for what is certain to come; it is no part of a verdict.
const patience = 30 * time.Second

// play is the child's side. A child that lives holds a connection to its test,
// which so learns of its death, however it comes.
func play(role string) {
	role, address, _ := strings.Cut(role, " ")
	switch role {
	case "fail":
		fmt.Println("one")
		fmt.Fprintln(os.Stderr, "two")
		fmt.Println("three")
		os.Exit(3)
	case "live":
		hold(address)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		hold(address)
	case "parent":
		_, err := process.Start(context.Background(), child("child", "live "+address, os.Getenv("LOG")))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		select {}
	}
}

func hold(address string) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, connection)
}

func child(name, role, log string) process.Options {
	return process.Options{
		Name: name,
		Path: os.Args[0],
		Env:  []string{roleVariable + "=" + role},
		Log:  log,
	}
}

// A line is the test's end of a child's connection.
type line struct{ listener net.Listener }

func newLine(t *testing.T) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &line{listener}
}

func (l *line) address() string { return l.listener.Addr().String() }

// accept waits for the child and returns a function that waits for its death.
func (l *line) accept(t *testing.T) (awaitDeath func()) {
	t.Helper()
	connection, err := l.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return func() {
		t.Helper()
		if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(connection); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the child still lives")
		}
	}
}

func TestProcessThatEndsBeforeItIsReadySaysHowAndShowsTheEndOfItsLog(t *testing.T) {
	o := child("worker", "fail", filepath.Join(t.TempDir(), "logs", "worker.log"))
	o.Ready = func(context.Context) error { return errors.New("not yet") }
	_, err := process.Start(t.Context(), o)
	var exit *process.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("Start returned %v, want an ExitError", err)
	}
	if exit.Name != "worker" || exit.State != "exit status 3" {
		t.Errorf("got %q %q, want worker, exit status 3", exit.Name, exit.State)
	}
	if diff := cmp.Diff([]string{"two", "three"}, exit.LogEnd(2)); diff != "" {
		t.Errorf("end of the log (-want +got):\n%s", diff)
	}
}

func TestReadyIsAskedUntilItIsContent(t *testing.T) {
	l := newLine(t)
	o := child("worker", "live "+l.address(), filepath.Join(t.TempDir(), "log"))
	asked := 0
	o.Ready = func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	p, err := process.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	awaitDeath := l.accept(t)
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err of a running process is %v, want nil", err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	awaitDeath()
	<-p.Done()
	var exit *process.ExitError
	if !errors.As(p.Err(), &exit) || exit.State != "signal: terminated" {
		t.Errorf("after Stop, Err is %v, want signal: terminated", p.Err())
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stopping again: %v", err)
	}
}

func TestStartThatIsGivenUpStopsTheProcess(t *testing.T) {
	l := newLine(t)
	o := child("worker", "live "+l.address(), filepath.Join(t.TempDir(), "log"))
	ctx, cancel := context.WithCancelCause(t.Context())
	var awaitDeath func()
	o.Ready = func(context.Context) error {
		if awaitDeath == nil {
			awaitDeath = l.accept(t)
			cancel(errors.New("changed my mind"))
		}
		return errors.New("the cache is cold")
	}
	_, err := process.Start(ctx, o)
	if err == nil {
		t.Fatal("Start succeeded")
	}
	for _, want := range []string{"worker", "changed my mind", "the cache is cold"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	awaitDeath()
}

func TestProcessThatDoesNotHeedSIGTERMIsKilledAfterItsTimeout(t *testing.T) {
	l := newLine(t)
	o := child("stubborn", "stubborn "+l.address(), filepath.Join(t.TempDir(), "log"))
	o.StopTimeout = time.Millisecond
	var awaitDeath func()
	o.Ready = func(context.Context) error { awaitDeath = l.accept(t); return nil }
	p, err := process.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "stubborn") {
		t.Errorf("Stop returned %v, want an error that names the process", err)
	}
	awaitDeath()
}

func TestChildDiesWithItsParent(t *testing.T) {
	l := newLine(t)
	dir := t.TempDir()
	o := child("parent", "parent "+l.address(), filepath.Join(dir, "parent.log"))
	o.Env = append(o.Env, "LOG="+filepath.Join(dir, "child.log"))
	parent, err := process.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	awaitDeath := l.accept(t)
	if err := parent.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath()
}

func TestLogOfAnEarlierRunIsKept(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for range 2 {
		p, err := process.Start(t.Context(), child("worker", "fail", log))
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(content), strings.Repeat("one\ntwo\nthree\n", 2); got != want {
		t.Errorf("log holds %q, want %q", got, want)
	}
}

func TestProgramThatIsNotThereIsAnError(t *testing.T) {
	_, err := process.Start(t.Context(), process.Options{Name: "worker", Path: "/no/such/program", Log: filepath.Join(t.TempDir(), "log")})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "worker") {
		t.Errorf("got %v, want an error that names worker and says that the program is not there", err)
	}
}

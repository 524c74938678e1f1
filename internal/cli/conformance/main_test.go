// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/providers/manual"
	"github.com/fivespot/fivespot/sdk"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	devplanetest.Main(m, devplanetest.CRDs,
		devplanetest.Deployed("controller/namespace.yaml", "spot-schedule-providers/manual/rbac.yaml"))
}

// startProvider runs the provider of ManualSchedule until the end of the test, and
// returns a shell command that restarts it.
func startProvider(t *testing.T) (restart string) {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), "5spot-system", "manual-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	settings := sdk.Settings{
		RESTConfig: config, MetricsBindAddress: "0", HealthProbeBindAddress: "0",
		Logger: funcr.New(func(string, string) {}, funcr.Options{}),
	}
	asked, done := pipe(t), pipe(t)
	runUntilTheEnd(t, func(ctx context.Context) error {
		return again(ctx, asked, done, func(ctx context.Context) error { return sdk.Run(ctx, settings, manual.Provider()) })
	})
	return fmt.Sprintf("echo >%s; read _ <%s", asked.Name(), done.Name())
}

// pipe makes a named pipe and holds both its ends open until the end of the test.
func pipe(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// again runs something until ctx ends, and ends it and runs it anew at each line
// that comes by asked; when it has ended, a line goes to done.
func again(ctx context.Context, asked, done *os.File, run func(context.Context) error) error {
	context.AfterFunc(ctx, func() { asked.Close() })
	lines := bufio.NewScanner(asked)
	for {
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- run(running) }()
		lines.Scan()
		stop()
		if err := <-ended; err != nil || ctx.Err() != nil {
			return err
		}
		if _, err := done.WriteString("\n"); err != nil {
			return err
		}
	}
}

// runUntilTheEnd runs something in the background of a test.
func runUntilTheEnd(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with: %v", err)
		}
	})
}

// outcome is what the command did.
type outcome struct {
	out, err string
	status   int
	error    string
}

// execute runs the command against the control plane of the tests.
func execute(ctx context.Context, t *testing.T, args ...string) outcome {
	t.Helper()
	return executeWith(ctx, t, append([]string{"--kubeconfig", devplanetest.Plane(t).Kubeconfig()}, args...)...)
}

func executeWith(ctx context.Context, t *testing.T, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	command := NewCommand(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut}, clock.RealClock{})
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(&errOut)
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(ctx)
	did := outcome{out: out.String(), err: errOut.String()}
	if err != nil {
		did.status = 1
		if status, is := errors.AsType[*cli.StatusError](err); is {
			did.status = status.Status
			err = status.Err
		}
		if err != nil {
			did.error = err.Error()
		}
	}
	return did
}

// manifest writes a ManualSchedule and returns the path.
func manifest(t *testing.T, spec string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schedule.yaml")
	text := "apiVersion: spotschedules.5spot.finos.org/v1alpha1\nkind: ManualSchedule\nmetadata: {name: sample}\nspec: " + spec + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// everything are the flags of a whole run, as fast as can be.
func everything(t *testing.T) []string {
	t.Helper()
	return []string{
		"--kind=ManualSchedule", "--service-account=5spot-system/manual-schedule-provider",
		"--apply=" + manifest(t, `{enabled: true, until: "2999-12-31T00:00:00Z"}`), "--apply-off=" + manifest(t, "{enabled: false}"),
		"--apply-invalid=" + manifest(t, `{enabled: "perhaps"}`),
		"--react-within=10s", "--idle-for=500ms", "--patience=12s", "--objects=20",
	}
}

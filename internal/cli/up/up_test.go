// SPDX-License-Identifier: Apache-2.0

package up

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/process"
)

func TestReadyLine(t *testing.T) {
	for _, test := range []struct {
		part localcluster.PartReady
		want string
	}{
		{
			part: localcluster.PartReady{Name: "control plane", After: 2960 * time.Millisecond, Detail: "/data/kubeconfig"},
			want: "control plane                          ready in   3.0s   /data/kubeconfig",
		},
		{
			part: localcluster.PartReady{Name: "Cluster API in-memory infrastructure", After: 61 * time.Second},
			want: "Cluster API in-memory infrastructure   ready in  61.0s",
		},
	} {
		if got := readyLine(test.part); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestEndOfTheLogOfAPartThatEnded(t *testing.T) {
	log := filepath.Join(t.TempDir(), "controller.log")
	var content strings.Builder
	for i := range 30 {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	if err := os.WriteFile(log, []byte(content.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	err := &localcluster.PartError{Name: "controller", Err: &process.ExitError{Name: "controller", State: "exit status 1", LogPath: log}}
	var out strings.Builder
	showLogEnd(&out, err)
	got := strings.Split(strings.Trim(out.String(), "\n"), "\n")
	if len(got) != 1+logLines || got[0] != "The end of "+log+":" || got[1] != "  line 10" || got[logLines] != "  line 29" {
		t.Errorf("it shows:\n%s", out.String())
	}
}

func TestErrorThatIsNoPartsEndShowsNoLog(t *testing.T) {
	var out strings.Builder
	showLogEnd(&out, errors.New("no free port"))
	if out.Len() > 0 {
		t.Errorf("it shows %q", out.String())
	}
}

func TestStoppedDuringTheStart(t *testing.T) {
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		fail bool
	}{
		"by the user":               {stop, fmt.Errorf("waiting: %w", context.Canceled), false},
		"by a part that ended":      {stop, &localcluster.PartError{Name: "controller"}, true},
		"by an error, not the user": {t.Context(), errors.New("no free port"), true},
	} {
		if got := stopped(test.ctx, test.err); (got != nil) != test.fail {
			t.Errorf("%s: got %v, want an error: %t", name, got, test.fail)
		}
	}
}

func TestDefaultDirFollowsTheBaseDirectorySpecification(t *testing.T) {
	for _, test := range []struct{ state, want string }{
		{state: "/var/state", want: "/var/state/fivespot"},
		{state: "", want: "/home/trader/.local/state/fivespot"},
		{state: "relative/paths/are/to/be/ignored", want: "/home/trader/.local/state/fivespot"},
	} {
		t.Setenv("HOME", "/home/trader")
		t.Setenv("XDG_STATE_HOME", test.state)
		got, err := defaultDir()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("with XDG_STATE_HOME=%q (-want +got):\n%s", test.state, diff)
		}
	}
}

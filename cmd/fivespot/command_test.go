// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/schedule"
)

// execute runs the command by a name of its program and returns what it prints.
func execute(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	var out bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}
	command := newCommand(program, streams, clocktesting.NewFakeClock(time.Unix(0, 0)))
	command.SetArgs(arguments)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHelpNamesTheCommandAsItWasCalled(t *testing.T) {
	for program, want := range map[string]string{
		"fivespot":                        "\n  fivespot up [flags]\n",
		"/usr/local/bin/fivespot":         "\n  fivespot up [flags]\n",
		"/usr/local/bin/kubectl-fivespot": "\n  kubectl fivespot up [flags]\n",
	} {
		if got := execute(t, program, "up", "--help"); !strings.Contains(got, want) {
			t.Errorf("called as %s, the help does not hold %q:\n%s", program, want, got)
		}
	}
}

func TestVersionNamesTheZoneDatabase(t *testing.T) {
	if got, want := execute(t, "fivespot", "--version"), "time zones "+schedule.ZoneDataVersion(); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to hold %q", got, want)
	}
}

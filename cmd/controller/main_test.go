// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestAWrongCallEndsWithStatus2AndSaysWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"--shards=99":                           "--shards=99 must be from 0 to 16",
		"--shards=several":                      `"several"`,
		"--no-such-flag":                        "--no-such-flag",
		"surplus":                               `"surplus"`,
		"--concurrency=0":                       "--concurrency=0 must be at least 1",
		"--finalizer-timeout=0":                 "--finalizer-timeout=0s must be more than zero",
		"--finalizer-timeout=-1m":               "--finalizer-timeout=-1m0s must be more than zero",
		"--allowed-bootstrap-groups=":           "--allowed-bootstrap-groups must name at least one API group",
		"--allowed-infrastructure-groups=":      "--allowed-infrastructure-groups must name at least one API group",
		"--allowed-bootstrap-groups=a.io, b":    `--allowed-bootstrap-groups: " b" is not the name of an API group`,
		"--allowed-infrastructure-groups=a.io,": `--allowed-infrastructure-groups: "" is not the name of an API group`,
	} {
		var stderr strings.Builder
		if status := execute(t.Context(), newCommand(), []string{args, "--kubeconfig=" + t.TempDir() + "/none"}, &stderr); status != 2 {
			t.Errorf("controller %s: exit status %d, want 2", args, status)
		}
		if told := stderr.String(); !strings.HasPrefix(told, "controller: ") || !strings.Contains(told, want) {
			t.Errorf("controller %s says %q, want %q", args, told, want)
		}
	}
}

func TestAKubeconfigThatIsNotThereEndsWithStatus1(t *testing.T) {
	missing := t.TempDir() + "/none"
	var stderr strings.Builder
	if status := execute(t.Context(), newCommand(), []string{"--kubeconfig=" + missing}, &stderr); status != 1 || !strings.Contains(stderr.String(), missing) {
		t.Errorf("exit status %d:\n%s", status, stderr.String())
	}
}

func TestTheMetricsTellTheVersion(t *testing.T) {
	want := `# HELP fivespot_controller_info 1, with the version of the controller.
# TYPE fivespot_controller_info gauge
fivespot_controller_info{version="v1.2.3"} 1
`
	if err := testutil.CollectAndCompare(info("v1.2.3"), strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

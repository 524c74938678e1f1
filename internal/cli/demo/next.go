// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// next says how to go on by oneself.
func next(out io.Writer, kubeconfig, kubectl string) {
	if kubectl == "" {
		kubectl = "bin/kubectl"
		defer fmt.Fprintln(out, "\nThere is no kubectl here yet: `make bin/kubectl` builds one.")
	}
	fmt.Fprintf(out, `
Everything stays up; stop it with Ctrl-C. The kubeconfig is %[1]s.
Three commands to try next, in another terminal:

  %[2]s --kubeconfig=%[1]s -n trading patch manualschedule desk-override --type=merge -p '{"spec":{"enabled":true}}'
  %[2]s --kubeconfig=%[1]s -n trading get scheduledmachine trading-desk-rack -o jsonpath='{.status.spotSchedule}{"\n"}'
  %[2]s --kubeconfig=%[1]s -n trading get scheduledmachines,machines.cluster.x-k8s.io
`, quoted(kubeconfig), quoted(kubectl))
}

// quoted returns a path as one types it into a shell.
func quoted(path string) string {
	if !strings.ContainsAny(path, " \t\"'$&;|<>()*?\\`") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// findKubectl returns what to type for kubectl: its name if it is in the search
// path, else the path of the one beside this program, else nothing.
func findKubectl(lookPath func(string) (string, error)) string {
	if _, err := lookPath("kubectl"); err == nil {
		return "kubectl"
	}
	executable, err := os.Executable()
	if err != nil {
		return ""
	}
	beside := filepath.Join(filepath.Dir(executable), "kubectl")
	if _, err := os.Stat(beside); err != nil {
		return ""
	}
	return beside
}

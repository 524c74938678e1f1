// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fivespot/fivespot/internal/cli"
	"github.com/fivespot/fivespot/internal/cli/provider"
	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// root is this repository.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// fivespotProvider runs the command and returns what it prints.
func fivespotProvider(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	command := provider.NewCommand(cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &out})
	command.SetArgs(args)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("fivespot provider %v: %v", args, err)
	}
	return out.String()
}

// newProvider writes a provider that has the SDK of this repository, and returns
// its directory.
func newProvider(t *testing.T, name string, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "provider")
	fivespotProvider(t, append([]string{"init", name, "--module", "example.com/acme/provider", "--dir", dir, "--sdk", root}, args...)...)
	return dir
}

// run runs a program in a directory to its end and returns all that it prints.
func run(t *testing.T, dir, stdin, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), environment(t)...)
	command.Stdin = strings.NewReader(stdin)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	return string(output)
}

// makeTarget makes a target of a provider's Makefile, against the cluster.
func makeTarget(t *testing.T, dir string, target ...string) string {
	t.Helper()
	return run(t, dir, "", "make", append(target, "KUBECONFIG="+localclustertest.Cluster(t).Kubeconfig())...)
}

// kubectl runs kubectl as an administrator, or as whoever a kubeconfig among the
// arguments says.
func kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	return run(t, "", stdin, tool("kubectl"), append([]string{"--kubeconfig", localclustertest.Cluster(t).Kubeconfig()}, args...)...)
}

// awaitServed returns when a kind that is defined is served. Its definition says
// so a moment before requests are routed, of which no event tells.
func awaitServed(t *testing.T, plural string) {
	t.Helper()
	name := plural + ".spotschedules.5spot.finos.org"
	kubectl(t, "", "wait", "--for=condition=Established", "crd/"+name, "--timeout=1m")
	ctx := localclustertest.Context(t)
	command := exec.CommandContext(ctx, "bash", "-c", "until kubectl get "+name+" --all-namespaces; do true; done")
	command.Env = append(append(os.Environ(), environment(t)...), "KUBECONFIG="+localclustertest.Cluster(t).Kubeconfig())
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("waiting for %s to be served: %v\n%s", name, err, output)
	}
}

// environment is what programs find: those of bin/ before all others, and
// nothing of whoever runs the tests.
func environment(t *testing.T) []string {
	t.Helper()
	return []string{
		"PATH=" + tool("") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GOWORK=off", "KUBECONFIG=", "KUBECACHEDIR=" + t.TempDir(),
	}
}

// tool returns the path of a program of bin/.
func tool(name string) string { return filepath.Join(root, "bin", name) }

func readFile(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

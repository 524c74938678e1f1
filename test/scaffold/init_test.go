// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

// What an author has a minute after the first command, step by step.
func TestAProviderFromNothing(t *testing.T) {
	dir := newProvider(t, "TideSchedule")
	run(t, dir, "make", "test")
	run(t, dir, tool("golangci-lint"), "run", "--config", filepath.Join(root, ".golangci.yml"))
	checkGenerated(t, dir)

	start(t, dir)
	devplanetest.AwaitCRD(t, "tideschedules."+contract.Group)
	namespace := devplanetest.Namespace(t)
	for _, step := range []struct {
		sample string
		want   contract.State
	}{{"on", contract.Active}, {"off", contract.Inactive}, {"on", contract.Active}, {"invalid", contract.Unresolved}} {
		objects := devplanetest.ApplyIn(t, namespace, readFile(t, dir, "samples", step.sample+".yaml"))
		awaitReads(t, objects[0], step.want)
	}
}

// start runs the provider as `make run` does, until the end of the test.
func start(t *testing.T, dir string) *process.Process {
	t.Helper()
	p, err := process.Start(devplanetest.Context(t), process.Options{
		Name: "make run",
		Path: "make",
		Args: []string{"run", "KUBECONFIG=" + devplanetest.Plane(t).Kubeconfig()},
		Dir:  dir,
		Env:  append(environment(), "KUBECACHEDIR="+t.TempDir()),
		Log:  filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stopping the provider: %v", err)
		}
		if t.Failed() {
			t.Logf("its log:\n%s", readFile(t, p.Log()))
		}
	})
	return p
}

// checkGenerated checks that the definition which init writes is the one that
// the generator makes of the types.
func checkGenerated(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "deploy", "crd.yaml")
	written := string(readFile(t, file))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "make", "generate")
	if diff := cmp.Diff(string(readFile(t, file)), written); diff != "" {
		t.Errorf("the definition is stale from the beginning (-generated +written):\n%s", diff)
	}
}

// The definition is the generated one for names that are long, irregular or few.
func TestTheDefinitionIsTheGeneratedOne(t *testing.T) {
	for name, args := range map[string][]string{
		"a long kind":                  {"TidesAndCurrentsOfTheWesternApproachesSchedule"},
		"a kind without a short name":  {"DeskSchedule"},
		"a kind with names of its own": {"OfficePolicy", "--plural", "offices", "--short-name", "off"},
	} {
		t.Run(name, func(t *testing.T) { checkGenerated(t, newProvider(t, args[0], args[1:]...)) })
	}
}

// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/internal/process"
)

// What an author has a minute after the first command, as README.md has it.
func TestAProviderFromNothing(t *testing.T) {
	dir := newProvider(t, "TideSchedule")
	makeTarget(t, dir, "test")
	run(t, dir, "", tool("golangci-lint"), "run", "--config", filepath.Join(root, ".golangci.yml"))
	checkGenerated(t, dir)

	start(t, dir)
	kubectl(t, "", "wait", "--for=create", "crd/tideschedules.spotschedules.5spot.finos.org", "--timeout=1m")
	awaitServed(t, "tideschedules")
	namespace := localclustertest.Namespace(t)
	for _, step := range []struct{ sample, want string }{
		{"on", "jsonpath={.status.active}=true"},
		{"off", "jsonpath={.status.active}=false"},
		{"on", "jsonpath={.status.active}=true"},
		{"invalid", "condition=Ready=False"},
	} {
		kubectl(t, "", "apply", "-n", namespace, "-f", filepath.Join(dir, "samples", step.sample+".yaml"))
		kubectl(t, "", "wait", "-n", namespace, "tideschedule/sample", "--for="+step.want, "--timeout=1m")
	}

	// All that the kit looks at passes, at once. The wait for what must not come is
	// short here, and the bound on what must come is wide.
	makeTarget(t, dir, "conformance", "FLAGS=--strict --idle-for=1s --react-within=10s --objects=60")
}

// `make run` installs things. It does not do so in whatever cluster the author's
// environment happens to name.
func TestMakeRunIsForFivespotUp(t *testing.T) {
	t.Setenv("KUBECONFIG", "/production")
	t.Setenv("XDG_STATE_HOME", "/state")
	t.Setenv("MAKEFLAGS", "") // this test may be run by make
	t.Setenv("MAKELEVEL", "0")
	dir := newProvider(t, "TideSchedule")
	command := exec.CommandContext(t.Context(), "make", "--eval=where: ; @echo $$KUBECONFIG", "where")
	command.Dir = dir
	if output, err := command.CombinedOutput(); err != nil || string(output) != "/state/fivespot/kubeconfig\n" {
		t.Errorf("it is for %s (%v)", output, err)
	}
}

// start runs `make run` until the end of the test.
func start(t *testing.T, dir string) {
	t.Helper()
	p, err := process.Start(localclustertest.Context(t), process.Options{
		Name: "make run",
		Path: "make",
		Args: []string{"run", "KUBECONFIG=" + localclustertest.Cluster(t).Kubeconfig()},
		Dir:  dir,
		Env:  environment(t),
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
}

// checkGenerated checks that the definition which init writes is the one that
// the generator makes of the types.
func checkGenerated(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "deploy", "crd.yaml")
	written := readFile(t, file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	makeTarget(t, dir, "generate")
	if diff := cmp.Diff(readFile(t, file), written); diff != "" {
		t.Errorf("the definition is stale from the beginning (-generated +written):\n%s", diff)
	}
}

// The definition is the generated one for names that are long, irregular or few.
func TestTheDefinitionIsTheGeneratedOne(t *testing.T) {
	for name, args := range map[string][]string{
		"a long kind":                 {"TidesAndCurrentsOfTheWesternApproachesSchedule"},
		"a kind without a short name": {"DeskSchedule"},
	} {
		t.Run(name, func(t *testing.T) { checkGenerated(t, newProvider(t, args[0], args[1:]...)) })
	}
}

func TestAProviderWithNamesOfItsOwn(t *testing.T) {
	dir := newProvider(t, "OfficePolicy", "--plural", "offices", "--short-name", "off", "--namespace", "trading")
	checkGenerated(t, dir)
	makeTarget(t, dir, "test")
}

// With two replicas a provider takes a Role besides, which is no right on schedules.
func TestAStandbyIsGrantedItsLease(t *testing.T) {
	dir := newProvider(t, "TideSchedule")
	rbac := filepath.Join(dir, "deploy", "rbac.yaml")
	if err := os.WriteFile(rbac, []byte(readFile(t, rbac)+lease), 0o600); err != nil {
		t.Fatal(err)
	}
	makeTarget(t, dir, "test")
}

const lease = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tide-schedule-provider, namespace: 5spot-system}
rules:
  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}
`

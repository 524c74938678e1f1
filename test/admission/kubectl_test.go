// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// kubectl runs it as a user, "" for the admin, and returns all that it says.
func kubectl(t *testing.T, user, input string, arguments ...string) (string, error) {
	t.Helper()
	program, err := filepath.Abs("../../bin/kubectl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	if user != "" {
		arguments = append(arguments, "--as="+user)
	}
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = "../.."
	command.Env = append(os.Environ(), "KUBECONFIG="+devplanetest.Plane(t).Kubeconfig(), "HOME="+t.TempDir())
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	return string(output), err
}

// With the policies in force, all that is shipped passes a dry run.
func TestBundleAndSamplesPass(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "trading"}} // a dry run makes none
	if err := devplanetest.Client(t).Create(t.Context(), namespace); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	for _, what := range [][]string{{"-k", "deploy/"}, {"-f", "examples/"}} {
		output, err := kubectl(t, "", "", append([]string{"apply", "--server-side", "--force-conflicts", "--dry-run=server"}, what...)...)
		if err != nil || strings.Contains(output, "Warning") {
			t.Errorf("kubectl apply %v: %v\n%s", what, err, output)
		}
	}
}

// What a person at a terminal reads, to the letter.
func TestKubectlShows(t *testing.T) {
	const machine = `
apiVersion: 5spot.finos.org/v1beta1
kind: ScheduledMachine
metadata: {name: terminal, namespace: default}
spec:
  schedule: {apiVersion: spotschedules.5spot.finos.org/v1alpha1, kind: ManualSchedule, name: desk}
  clusterName: trading
  bootstrapSpec: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, spec: {}}
  infrastructureSpec: {apiVersion: batch/v1, kind: Job, spec: {}}
`
	rights := strings.Replace(machine, "batch/v1, kind: Job", "infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachine", 1)
	for _, c := range []struct{ user, manifest, want string }{
		{"", machine, `The scheduledmachines "terminal" is invalid: : ValidatingAdmissionPolicy 'scheduledmachine-allowed-groups' with binding 'scheduledmachine-allowed-groups' denied request: ` +
			"spec.infrastructureSpec.apiVersion: the API group batch is not allowed here; use one of infrastructure.cluster.x-k8s.io, k0smotron.io, " +
			"or have it added to allowed-infrastructure-groups in the ConfigMap 5spot-system/5spot-controller-config\n"},
		{mayOnlyWriteMachines, rights, `Error from server (Forbidden): error when creating "STDIN": scheduledmachines.5spot.finos.org "terminal" is forbidden: ` +
			"ValidatingAdmissionPolicy 'scheduledmachine-requester-rights' with binding 'scheduledmachine-requester-rights' denied request: " +
			`spec.bootstrapSpec: the controller creates this object on behalf of "only-scheduledmachines", who may not: ` +
			`ask for the right to create kubeadmconfigs.bootstrap.cluster.x-k8s.io in the namespace "default"` + "\n"},
	} {
		output, err := kubectl(t, c.user, c.manifest, "create", "--dry-run=server", "-f", "-")
		if err == nil || output != c.want {
			t.Errorf("kubectl says (%v)\n%s\nwant\n%s", err, output, c.want)
		}
	}
}

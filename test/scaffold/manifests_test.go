// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
	"github.com/fivespot/fivespot/sdk/sdktest/conformance"
)

// With what is printed installed, an account can do what a provider has to do,
// in any language.
func TestManifestsAreAllThatAProviderNeeds(t *testing.T) {
	cluster := localclustertest.Cluster(t)
	namespace := localclustertest.Namespace(t)
	install(t, fivespotProvider(t, "manifests", "--kind", "NightSchedule"), "nightschedules")
	kubectl(t, `{
		"apiVersion": "spotschedules.5spot.finos.org/v1alpha1", "kind": "NightSchedule",
		"metadata": {"name": "ward"}, "spec": {"anything": ["goes", {"in": "here"}]}
	}`, "apply", "-n", namespace, "-f", "-")
	if got := kubectl(t, "", "get", "-n", namespace, "nightschedule/ward", "-o", "jsonpath={.spec}"); got != `{"anything":["goes",{"in":"here"}]}` {
		t.Errorf("of the spec is left %s", got)
	}

	account, err := cluster.ServiceAccountKubeconfig(localclustertest.Context(t), "5spot-system", "night-schedule-provider")
	if err != nil {
		t.Fatal(err)
	}
	if got := kubectl(t, "", "--kubeconfig", account, "get", "nightschedules", "-A", "-o", "name"); !strings.Contains(got, "/ward\n") {
		t.Errorf("the provider's account sees %q", got)
	}
	kubectl(t, "", "--kubeconfig", account, "patch", "-n", namespace, "nightschedule/ward", "--subresource=status", "--type=merge",
		"-p", `{"status": {"active": true, "observedGeneration": 1, "lastTransitionTime": "2026-06-15T09:00:00Z"}}`)
	kubectl(t, "", "wait", "-n", namespace, "nightschedule/ward", "--for=jsonpath={.status.active}=true", "--timeout=1m")
	checkConforms(t, "NightSchedule", types.NamespacedName{Namespace: "5spot-system", Name: "night-schedule-provider"})
}

// checkConforms holds the definition and the account of a kind, which has no
// provider, against the contract.
func checkConforms(t *testing.T, kind string, account types.NamespacedName) {
	t.Helper()
	o := conformance.Options{Config: localclustertest.Cluster(t).Config(), Kind: kind, ServiceAccount: account}
	for _, check := range conformance.Checks() {
		if check.Group == conformance.GroupDefinition || check.Group == conformance.GroupAccount {
			o.Only = append(o.Only, check.ID)
		}
	}
	report, err := conformance.Run(localclustertest.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range report.Results {
		if slices.Contains(o.Only, result.ID) && result.Outcome != conformance.Passed {
			t.Errorf("%s %s: %s", result.ID, result.Outcome, result.Message)
		}
	}
}

// install applies what is printed, without a word of warning, and returns when
// the kind is served.
func install(t *testing.T, manifests, plural string) {
	t.Helper()
	if said := kubectl(t, manifests, "apply", "--server-side", "-f", "-"); strings.Contains(said, "Warning") {
		t.Errorf("kubectl warns:\n%s", said)
	}
	awaitServed(t, plural)
}

// The API server holds the spec against the schema that the author gave.
func TestManifestsWithASchema(t *testing.T) {
	schema := root + "/internal/cli/provider/testdata/spec.yaml"
	install(t, fivespotProvider(t, "manifests", "--kind", "DeskWatch", "--spec-schema", schema, "--version", "v1beta2"), "deskwatches")
	for spec, want := range map[string]string{
		`{"open": true, "seats": 2}`: "deskwatch.spotschedules.5spot.finos.org/desk created",
		`{"open": "yes"}`:            "spec.open",
		`{"seats": 2}`:               "spec.open: Required value",
		`{"open": true, "sests": 2}`: `unknown field "spec.sests"`,
	} {
		command := exec.CommandContext(localclustertest.Context(t), tool("kubectl"), "create", "--validate=strict", "--dry-run=server", "-f", "-",
			"--kubeconfig", localclustertest.Cluster(t).Kubeconfig())
		command.Env = append(command.Environ(), environment(t)...)
		command.Stdin = strings.NewReader(`{"apiVersion": "spotschedules.5spot.finos.org/v1beta2", "kind": "DeskWatch", "metadata": {"name": "desk"}, "spec": ` + spec + `}`)
		output, err := command.CombinedOutput()
		if !bytes.Contains(output, []byte(want)) {
			t.Errorf("spec %s: %v, want %q:\n%s", spec, err, want, output)
		}
	}
}

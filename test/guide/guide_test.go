// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
)

// The blocks of the guide, by its steps.
const (
	crdBlock     = "1-crd.yaml"
	rbacBlock    = "3-rbac.yaml"
	machineBlock = "5-scheduledmachine.yaml"
	flipBlock    = "5-flip.sh"
	verifyBlock  = "6-verify.sh"
)

func TestGuide(t *testing.T) {
	installKind(t) // step 1

	// Step 3: nothing of what the guide grants is there already.
	sh(t, "kubectl delete clusterrole,clusterrolebinding manual-schedule-provider")
	apply(t, block(t, rbacBlock))
	sh(t, untilGranted)

	// Steps 2 and 4: the provider.
	trail := auditTrail(t)
	startProvider(t)

	// Step 5: a toggle that is off, and the machine that refers to it.
	apply(t, example(t, "manualschedule-desk-override.yaml"))
	apply(t, guideMachine(t))
	t.Cleanup(func() { sh(t, "kubectl -n trading delete sm/trading-desk-rack manualschedule/desk-override") })
	sm := scheduledMachine("trading-desk-rack")
	awaitPhase(t, sm, v1beta1.PhaseInactive)
	awaitResolved(t, sm, metav1.ConditionTrue, contract.ReasonResolved)
	verify(t, false)
	checkNothingIsLeft(t, "trading-desk-rack")

	// The toggle goes on, as the guide flips it.
	flip := block(t, flipBlock)
	expect(t, sh(t, flip), "manualschedule.spotschedules.5spot.finos.org/desk-override patched\n")
	awaitPhase(t, sm, v1beta1.PhaseActive)
	node := sm.Status.NodeRef.Name
	checkNodeIsReady(t, node)
	verify(t, true) // step 6
	checkTables(t, "Active", "true")

	// The toggle goes off.
	sh(t, strings.Replace(flip, "true", "false", 1))
	awaitPhase(t, sm, v1beta1.PhaseInactive)
	checkNothingIsLeft(t, "trading-desk-rack")
	checkNoNode(t, node)
	verify(t, false)
	checkTables(t, "Inactive", "false")

	checkTrail(t, trail)
}

// untilGranted ends once the API server goes by the guide's RBAC, of which no event tells.
const untilGranted = "until kubectl auth can-i watch manualschedules.spotschedules.5spot.finos.org --all-namespaces " +
	"--as=system:serviceaccount:5spot-system:manual-schedule-provider 2>/dev/null; do true; done"

// untilServed ends once requests for the kind are routed, of which no event tells.
const untilServed = "until kubectl get manualschedules.spotschedules.5spot.finos.org --all-namespaces 2>/dev/null; do true; done"

// installKind applies the guide's CRD and checks that it is what is installed
// then, whatever was installed before.
func installKind(t *testing.T) {
	t.Helper()
	manifest := block(t, crdBlock)
	apply(t, manifest)
	sh(t, untilServed)

	want := decode(t, manifest)
	for path, value := range map[string]any{ // what the API server adds
		"spec conversion":     map[string]any{"strategy": "None"},
		"spec names listKind": "ManualScheduleList",
	} {
		if err := unstructured.SetNestedField(want, value, strings.Fields(path)...); err != nil {
			t.Fatal(err)
		}
	}
	got := decode(t, sh(t, "kubectl get crd/manualschedules.spotschedules.5spot.finos.org -o yaml"))
	if diff := cmp.Diff(want["spec"], got["spec"]); diff != "" {
		t.Fatalf("what is installed is not the guide's (-guide +installed):\n%s", diff)
	}
}

// guideMachine returns the guide's ScheduledMachine, completed where the guide
// has dots.
func guideMachine(t *testing.T) string {
	t.Helper()
	specs, err := os.ReadFile("testdata/scheduledmachine-specs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const dots = "  # ... clusterName, bootstrapSpec, infrastructureSpec ...\n"
	text := block(t, machineBlock)
	if !strings.Contains(text, dots) {
		t.Fatalf("the guide's ScheduledMachine has no line %q", dots)
	}
	return strings.Replace(text, dots, string(specs), 1)
}

func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, manifest string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.UnmarshalStrict([]byte(manifest), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/devplane"
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
	rbac := block(t, rbacBlock)
	shWith(t, whole.Kubeconfig(), rbac, "kubectl delete -f -")
	apply(t, rbac)

	// Steps 2 and 4: the provider.
	trail := auditTrail(t)
	startProvider(t)

	// Step 5: a toggle that is off, and the machine that refers to it.
	apply(t, example(t, "manualschedule-desk-override.yaml"))
	apply(t, guideMachine(t))
	t.Cleanup(func() { sh(t, "kubectl -n trading delete sm/trading-desk-rack manualschedule/desk-override") })
	sm := scheduledMachine("trading-desk-rack")
	awaitPhase(t, sm, v1beta1.PhaseInactive)
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

// verify runs the guide's two commands, which print what the provider published
// and what 5-Spot made of it.
func verify(t *testing.T, active bool) {
	t.Helper()
	published, resolved, _ := strings.Cut(sh(t, block(t, verifyBlock)), "\n")
	expect(t, published, strconv.FormatBool(active))

	var got map[string]any
	if err := json.Unmarshal([]byte(resolved), &got); err != nil {
		t.Fatalf("status.spotSchedule is %q: %v", resolved, err)
	}
	changed, _ := got["lastTransitionTime"].(string)
	if _, err := time.Parse(time.RFC3339, changed); err != nil {
		t.Errorf("lastTransitionTime: %v", err)
	}
	generation := sh(t, "kubectl -n trading get manualschedule/desk-override -o jsonpath={.metadata.generation}")
	want := map[string]any{
		"resolved": true, "active": active, "reason": "Resolved", "message": fmt.Sprintf("status.active is %t", active),
		"providerGeneration": json.Number(generation), "lastTransitionTime": changed,
	}
	expectJSON(t, got, want)
}

func expectJSON(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(jsonOf(t, want), jsonOf(t, got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkTables checks what `kubectl get` shows, asked by short name. That of
// ManualSchedule needs its group here: ms alone means Cluster API's MachineSets.
func checkTables(t *testing.T, phase, on string) {
	t.Helper()
	expect(t, table(sh(t, "kubectl -n trading get ms.spotschedules.5spot.finos.org")), strings.Join([]string{
		"NAME ACTIVE",
		"desk-override " + on,
	}, "\n"))
	expect(t, table(sh(t, "kubectl -n trading get sm")), strings.Join([]string{
		"NAME PHASE READY INSCHEDULE ENABLED SCHEDULE KILLSWITCH AGE",
		"trading-desk-rack " + phase + " " + on + " " + on + " true ManualSchedule false AGE",
	}, "\n"))
}

// age is how kubectl shows one.
var age = regexp.MustCompile(`\b([0-9]+[smhd])+$`)

// table returns the lines with single spaces between columns, and no number in
// the column of the age.
func table(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = age.ReplaceAllString(strings.Join(strings.Fields(line), " "), "AGE")
	}
	return strings.Join(lines, "\n")
}

// checkNothingIsLeft checks that no object of a ScheduledMachine exists.
func checkNothingIsLeft(t *testing.T, name string) {
	t.Helper()
	expect(t, sh(t, "kubectl -n trading get machines,kubeadmconfigs,devmachines --ignore-not-found -o name "+
		"-l 5spot.finos.org/scheduled-machine="+name), "")
}

func checkNodeIsReady(t *testing.T, node string) {
	t.Helper()
	expect(t, inWorkloadCluster(t, "kubectl get node/"+node+` -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'`), "True")
}

func checkNoNode(t *testing.T, node string) {
	t.Helper()
	expect(t, inWorkloadCluster(t, "kubectl get node/"+node+" --ignore-not-found -o name"), "")
}

// inWorkloadCluster runs commands as the administrator of the workload cluster.
func inWorkloadCluster(t *testing.T, commands string) string {
	t.Helper()
	kubeconfig := t.TempDir() + "/kubeconfig"
	text := sh(t, `kubectl -n trading get secret/trading-kubeconfig -o go-template='{{.data.value | base64decode}}'`)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return shWith(t, kubeconfig, "", commands)
}

// auditTrail returns a reader of the API server's audit log that begins now.
func auditTrail(t *testing.T) *devplane.AuditReader {
	t.Helper()
	reader := devplane.OpenAuditLog(whole.AuditLog())
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := reader.SkipToEnd(); err != nil {
		t.Fatal(err)
	}
	return reader
}

// checkTrail checks that the provider asked for nothing but what the guide says
// that it needs, was refused nothing, and wrote as often as the verdict changed
// or was there for the first time.
func checkTrail(t *testing.T, reader *devplane.AuditReader) {
	t.Helper()
	writes := 0
	last := func(e devplane.AuditEvent) bool {
		if isProviders(e) && e.Verb == "patch" {
			writes++
		}
		return writes == 3
	}
	events, err := reader.Await(deadline(t), last)
	if err != nil {
		t.Fatalf("the provider wrote %d times, want 3 (absent to off, on, off): %v", writes, err)
	}
	for _, e := range events {
		if !isProviders(e) || e.Resource == "" { // the latter is discovery
			continue
		}
		what := e.Verb + " " + e.Group + " " + e.Resource + "/" + e.Subresource
		switch what {
		case "get spotschedules.5spot.finos.org manualschedules/", "list spotschedules.5spot.finos.org manualschedules/",
			"watch spotschedules.5spot.finos.org manualschedules/", "patch spotschedules.5spot.finos.org manualschedules/status":
			if e.Code >= 400 {
				t.Errorf("the provider was answered %d: %s", e.Code, what)
			}
		default:
			t.Errorf("the provider asked for something else: %s", what)
		}
	}
}

func isProviders(e devplane.AuditEvent) bool {
	return e.User == "system:serviceaccount:"+accountNamespace+":"+account && e.Stage == devplane.StageResponseComplete
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

func expect(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

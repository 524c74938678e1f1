// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/localcluster"
	"github.com/fivespot/fivespot/internal/process"
)

// patience bounds the whole test. It takes some 15 s.
const patience = 3 * time.Minute

// A reader who does what docs/create-your-own-provider.md says, with the SDK,
// gets what it says.
func TestGuideForProviderAuthors(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	files := filesOf(readPage(t, "docs/create-your-own-provider.md"))
	up := startCluster(ctx, t)

	// Steps 1 and 2: the kind and the rights.
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "trading"}}
	if err := up.Client().Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	apply(ctx, t, up.Client(), files["crd.yaml"])
	apply(ctx, t, up.Client(), files["rbac.yaml"])

	// Step 3: the controller, under its own account.
	provider := startProvider(ctx, t, up, files["main.go"])

	// Step 4: a machine that follows it.
	apply(ctx, t, up.Client(), files["machine.yaml"])
	awaitRecord(ctx, t, up.Client(), contract.ReasonResolved, false)
	desk := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": contract.Group + "/v1alpha1", "kind": "DeskSchedule",
		"metadata": map[string]any{"namespace": "trading", "name": "desk-7"},
	}}
	flip := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"open":true}}`))
	if err := up.Client().Patch(ctx, desk, flip); err != nil {
		t.Fatal(err)
	}

	// Step 5: the verdict is seen, and held once the schedule is gone.
	awaitRecord(ctx, t, up.Client(), contract.ReasonResolved, true)
	if err := provider.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := up.Client().Delete(ctx, desk); err != nil {
		t.Fatal(err)
	}
	awaitRecord(ctx, t, up.Client(), contract.ReasonProviderNotFound, true)
}

// The script of the guide is at least one that bash can read.
func TestGuideHasAScriptWithoutSyntaxErrors(t *testing.T) {
	script := filesOf(readPage(t, "docs/create-your-own-provider.md"))["provider.sh"]
	if script == "" {
		t.Fatal("the guide has no provider.sh")
	}
	check := exec.CommandContext(t.Context(), "bash", "-n")
	check.Stdin = strings.NewReader(script)
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("provider.sh: %v\n%s", err, output)
	}
}

// file is the end, or the beginning, of a line that names a file: "`NAME`:" or
// "`NAME`, what it is:".
var file = regexp.MustCompile("(?:^`([a-z.]+)`, .*|`([a-z.]+)`):$")

// filesOf returns the first block after each line that names a file.
func filesOf(p page) map[string]string {
	files := map[string]string{}
	for _, b := range p.blocks {
		match := file.FindStringSubmatch(b.before)
		if match == nil {
			continue
		}
		if name := match[1] + match[2]; files[name] == "" {
			files[name] = b.text
		}
	}
	return files
}

func startCluster(ctx context.Context, t *testing.T) *localcluster.Cluster {
	t.Helper()
	up, err := localcluster.Start(ctx, localcluster.Options{Dir: t.TempDir(), WithoutCAPI: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := up.Stop(); err != nil {
			t.Error(err)
		}
	})
	return up
}

// startProvider builds the guide's program in this module, where everything
// that it imports is at hand, and runs it with the credentials of its account.
func startProvider(ctx context.Context, t *testing.T, up *localcluster.Cluster, source string) *process.Process {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "desk-schedule")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, filepath.Join(dir, "main.go"))
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building main.go: %v\n%s", err, output)
	}
	if _, err := up.ServiceAccountConfig(ctx, "5spot-system", "desk-schedule-provider"); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	provider, err := process.Start(ctx, process.Options{
		Name: "provider of the guide", Path: program, Log: log,
		Args: []string{
			"--kubeconfig=" + filepath.Join(up.Dir(), "credentials", "5spot-system", "desk-schedule-provider.kubeconfig"),
			"--metrics-bind-address=0", "--health-probe-bind-address=0",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := provider.Stop(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("the provider's log:\n%s", text)
		}
	})
	return provider
}

// apply applies a manifest, and waits until its CRDs are served.
func apply(ctx context.Context, t *testing.T, c client.WithWatch, manifest string) {
	t.Helper()
	if manifest == "" {
		t.Fatal("the guide has no such file")
	}
	for document := range strings.SplitSeq(manifest, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		name := object.GetKind() + " " + object.GetName()
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("reader")); err != nil {
			t.Fatalf("applying %s: %v", name, err)
		}
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		err := await.Object(ctx, c, object, func() error {
			conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
			for _, condition := range conditions {
				if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" && fields["status"] == "True" {
					return nil
				}
			}
			return errors.Join(err, errors.New("it is not established"))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// awaitRecord waits until the ScheduledMachine of the guide says what it has read.
func awaitRecord(ctx context.Context, t *testing.T, c client.WithWatch, reason string, active bool) {
	t.Helper()
	sm := &v1beta1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "trading", Name: "desk-7-rack"}}
	err := await.Object(ctx, c, sm, func() error {
		record := sm.Status.SpotSchedule
		if record == nil || record.Reason != reason || ptr.Deref(record.Active, !active) != active {
			return fmt.Errorf("status.spotSchedule is %+v, want active %t for %s", record, active, reason)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

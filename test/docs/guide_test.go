// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
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
)

// patience bounds the whole test. It takes some 20 s.
const patience = 3 * time.Minute

// A reader who does what docs/create-your-own-provider.md says gets what it says.
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
	if _, err := up.ServiceAccountConfig(ctx, "5spot-system", "desk-schedule-provider"); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(up.Dir(), "credentials", "5spot-system", "desk-schedule-provider.kubeconfig")

	// Step 3 in both ways, each followed by the rest.
	t.Run("with the SDK", func(t *testing.T) {
		follow(ctx, t, up.Client(), files["machine.yaml"], program(ctx, t, files["main.go"], kubeconfig))
	})
	t.Run("in a shell", func(t *testing.T) {
		follow(ctx, t, up.Client(), files["machine.yaml"], script(t, files["provider.sh"], kubeconfig))
	})
}

// follow does steps 4 and 5 while a provider runs.
func follow(ctx context.Context, t *testing.T, c client.WithWatch, machine string, provider *exec.Cmd) {
	t.Helper()
	stop := start(t, provider)

	apply(ctx, t, c, machine)
	awaitRecord(ctx, t, c, contract.ReasonResolved, false)
	desk := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": contract.Group + "/v1alpha1", "kind": "DeskSchedule",
		"metadata": map[string]any{"namespace": "trading", "name": "desk-7"},
	}}
	flip := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"open":true}}`))
	if err := c.Patch(ctx, desk, flip); err != nil {
		t.Fatal(err)
	}
	awaitRecord(ctx, t, c, contract.ReasonResolved, true)

	stop()
	if err := c.Delete(ctx, desk); err != nil {
		t.Fatal(err)
	}
	awaitRecord(ctx, t, c, contract.ReasonProviderNotFound, true)

	sm := scheduledMachine()
	if err := c.Delete(ctx, sm); err != nil {
		t.Fatal(err)
	}
	if err := await.Gone(ctx, c, sm); err != nil {
		t.Fatal(err)
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

// program builds the guide's program in this module, where everything that it
// imports is at hand.
func program(ctx context.Context, t *testing.T, source, kubeconfig string) *exec.Cmd {
	t.Helper()
	file := write(t, "main.go", source)
	path := filepath.Join(filepath.Dir(file), "desk-schedule")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, file)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building main.go: %v\n%s", err, output)
	}
	return exec.Command(path, "--kubeconfig="+kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0")
}

// script is the guide's script, with the kubectl that is built here.
func script(t *testing.T, source, kubeconfig string) *exec.Cmd {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join(root, "bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "kubectl")); err != nil {
		t.Fatalf("kubectl is missing: run `make build` (%v)", err)
	}
	shell := exec.Command("bash", write(t, "provider.sh", source))
	shell.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+t.TempDir(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return shell
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if text == "" {
		t.Fatalf("the guide has no %s", name)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// start starts a provider, and whatever it starts, in a process group of their
// own, and returns a function that ends them all.
func start(t *testing.T, provider *exec.Cmd) (stop func()) {
	t.Helper()
	var log bytes.Buffer
	provider.Stdout, provider.Stderr = &log, &log
	provider.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := syscall.Kill(-provider.Process.Pid, syscall.SIGKILL); err != nil {
			t.Errorf("stopping the provider: %v", err)
		}
		_ = provider.Wait() // it was killed
	})
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("the provider said:\n%s", log.String())
		}
	})
	return stop
}

// apply applies a manifest, and waits until its CRDs are served.
func apply(ctx context.Context, t *testing.T, c client.WithWatch, manifest string) {
	t.Helper()
	if manifest == "" {
		t.Fatal("the guide has no such manifest")
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
	sm := scheduledMachine()
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

// scheduledMachine returns that of the guide, to be filled.
func scheduledMachine() *v1beta1.ScheduledMachine {
	return &v1beta1.ScheduledMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "trading", Name: "desk-7-rack"}}
}

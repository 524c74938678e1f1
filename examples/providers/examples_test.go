// SPDX-License-Identifier: Apache-2.0

// Package providers_test runs the example providers as their readers do: as
// processes, under their own accounts, against a real control plane.
package providers_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/deploy"
	"github.com/fivespot/fivespot/internal/devplane"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
	"github.com/fivespot/fivespot/internal/process"
)

func TestMain(m *testing.M) { devplanetest.Main(m, devplanetest.CRDs, guideRights) }

// guideRights applies what step 3 of the guide grants, as deploy/ has it.
func guideRights(p *devplane.Plane) error {
	for _, file := range []string{"controller/namespace.yaml", "spot-schedule-providers/manual/rbac.yaml"} {
		manifest, err := deploy.FS.ReadFile(file)
		if err != nil {
			return err
		}
		if err := devplanetest.Manifest(manifest)(p); err != nil {
			return err
		}
	}
	return nil
}

// startProvider runs an example until the end of the test.
func startProvider(t *testing.T, o process.Options) *process.Process {
	t.Helper()
	o.Name, o.Log = "provider", filepath.Join(t.TempDir(), "log")
	p, err := process.Start(devplanetest.Context(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stopping the provider: %v", err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(p.Log())
			t.Logf("its log:\n%s", text)
		}
	})
	return p
}

// stopped stops a provider and checks that it ended in good order.
func stopped(t *testing.T, p *process.Process) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	var ended *process.ExitError
	if errors.As(p.Err(), &ended); ended == nil || ended.State != "exit status 0" {
		t.Errorf("it ended with %v, want exit status 0", p.Err())
	}
}

func accountConfig(t *testing.T, namespace, name string) *rest.Config {
	t.Helper()
	config, err := devplanetest.Plane(t).ServiceAccountConfig(devplanetest.Context(t), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// startShell runs the shell example under the guide's account.
func startShell(t *testing.T) *process.Process {
	t.Helper()
	config := accountConfig(t, "5spot-system", "manual-schedule-provider")
	authority := config.CAData
	if config.CAFile != "" {
		var err error
		if authority, err = os.ReadFile(config.CAFile); err != nil {
			t.Fatal(err)
		}
	}
	return startProvider(t, process.Options{
		Path: "/bin/sh",
		Args: []string{"manual-shell/provider.sh"},
		Env: []string{
			"API_SERVER=" + config.Host,
			"TOKEN_FILE=" + write(t, "token", []byte(config.BearerToken)),
			"CA_FILE=" + write(t, "ca.crt", authority),
		},
	})
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// create makes a schedule with a toggle.
func create(t *testing.T, kind, namespace, name string, enabled bool) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"enabled": enabled}}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	object.SetNamespace(namespace)
	object.SetName(name)
	// Names where a careless reader would take them for the object's.
	object.SetLabels(map[string]string{"name": "label", "namespace": "label"})
	object.SetAnnotations(map[string]string{"name": `{"name":"x","spec":{"enabled":false}} \ ],`})
	if err := devplanetest.Client(t).Create(t.Context(), object); err != nil {
		t.Fatalf("creating a %s: %v", kind, err)
	}
	return object
}

// patch applies a merge patch to the object, or to its status.
func patch(t *testing.T, object *unstructured.Unstructured, body string) {
	t.Helper()
	if err := devplanetest.Client(t).Patch(t.Context(), object, mergePatch(body)); err != nil {
		t.Fatalf("patching %s: %v", object.GetName(), err)
	}
}

func patchStatus(t *testing.T, object *unstructured.Unstructured, body string) {
	t.Helper()
	if err := devplanetest.Client(t).Status().Patch(t.Context(), object, mergePatch(body)); err != nil {
		t.Fatalf("patching the status of %s: %v", object.GetName(), err)
	}
}

func mergePatch(body string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(body))
}

// awaitReads returns when readers of the contract come to the state, for the
// spec as it is.
func awaitReads(t *testing.T, object *unstructured.Unstructured, want contract.State) {
	t.Helper()
	generation := object.GetGeneration()
	devplanetest.Await(t, object, func() error {
		reading := contract.ReadObject(object)
		if reading.State != want || reading.ObservedGeneration == nil || *reading.ObservedGeneration < generation {
			return fmt.Errorf("it reads as %v: %s", reading.State, reading.Message)
		}
		return nil
	})
}

func statusField(object *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, append([]string{"status"}, path...)...)
	return value
}

func TestTheShellProviderFollowsTheToggle(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	before := create(t, "ManualSchedule", namespace, "made-before", true)
	provider := startShell(t)
	awaitReads(t, before, contract.Active)
	desk := create(t, "ManualSchedule", namespace, "desk-override", false)
	awaitReads(t, desk, contract.Inactive)
	patch(t, desk, `{"spec":{"enabled":true}}`)
	awaitReads(t, desk, contract.Active)

	// An edit that does not flip the verdict does not move the time of the flip,
	// and what others wrote stays.
	patchStatus(t, desk, `{"status":{"lastTransitionTime":"2026-01-02T03:04:05Z"}}`)
	ready := statusField(desk, "conditions").([]any)[0]
	audited := map[string]any{
		"type": "Audited", "status": "True", "reason": "Seen", "message": `by "ann" \ bob}`,
		"lastTransitionTime": "2026-01-01T00:00:00Z",
	}
	conditions, err := (&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "List", "status": map[string]any{"conditions": []any{audited, ready}},
	}}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	patchStatus(t, desk, string(conditions))
	patch(t, desk, `{"spec":{"reason":"release night"}}`)
	awaitReads(t, desk, contract.Active)
	if got := statusField(desk, "lastTransitionTime"); got != "2026-01-02T03:04:05Z" {
		t.Errorf("lastTransitionTime moved to %v without a flip", got)
	}
	if diff := cmp.Diff([]any{ready, audited}, statusField(desk, "conditions")); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	stopped(t, provider)
}

func TestTheShellProviderWritesNothingThatIsThere(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	provider := startShell(t)
	desk := create(t, "ManualSchedule", namespace, "desk-override", true)
	awaitReads(t, desk, contract.Active)
	patch(t, desk, `{"metadata":{"labels":{"touched":"yes"}}}`)
	version := desk.GetResourceVersion()
	awaitReads(t, create(t, "ManualSchedule", namespace, "seen-after", true), contract.Active)
	stopped(t, provider)

	startShell(t)
	awaitReads(t, create(t, "ManualSchedule", namespace, "seen-after-restart", true), contract.Active)
	if err := devplanetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(desk), desk); err != nil {
		t.Fatal(err)
	}
	if got := desk.GetResourceVersion(); got != version {
		t.Errorf("it was written though nothing was to change: resource version %s, want %s", got, version)
	}
}

func TestTheShellProviderComesBackAfterTheAPIServerRefusedIt(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	c := devplanetest.Client(t)
	binding := &unstructured.Unstructured{}
	binding.SetAPIVersion("rbac.authorization.k8s.io/v1")
	binding.SetKind("ClusterRoleBinding")
	binding.SetName("manual-schedule-provider")
	if err := c.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	devplanetest.AwaitGone(t, binding)
	desk := create(t, "ManualSchedule", namespace, "desk-override", true)
	startShell(t)
	if err := guideRights(devplanetest.Plane(t)); err != nil {
		t.Fatal(err)
	}
	awaitReads(t, desk, contract.Active)
}

func TestTheGoProviderBuildsOutsideThisModuleAndFollowsTheToggle(t *testing.T) {
	namespace := devplanetest.Namespace(t)
	binary := filepath.Join(t.TempDir(), "manual-go")
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-o", binary, ".")
	build.Dir = "manual-go"
	build.Env = append(os.Environ(), "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building it: %v\n%s", err, output)
	}
	for _, file := range []string{"manual-go/rbac.yaml", "manual-go/crd.yaml"} {
		manifest, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		devplanetest.Apply(t, manifest)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfigOf(accountConfig(t, "desk", "desk-override-provider")), kubeconfig); err != nil {
		t.Fatal(err)
	}
	provider := startProvider(t, process.Options{
		Path: binary,
		Args: []string{"--kubeconfig=" + kubeconfig, "--metrics-bind-address=0", "--health-probe-bind-address=0"},
	})
	desk := create(t, "DeskOverride", namespace, "desk", false)
	awaitReads(t, desk, contract.Inactive)
	patch(t, desk, `{"spec":{"enabled":true}}`)
	awaitReads(t, desk, contract.Active)
	stopped(t, provider)
}

func kubeconfigOf(config *rest.Config) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {
			Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData,
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}
}

// SPDX-License-Identifier: Apache-2.0

package capi_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func rack(change func(*v1beta1.ScheduledMachine)) *v1beta1.ScheduledMachine {
	sm := &v1beta1.ScheduledMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "trading", Name: "rack", UID: "11111111-2222-3333-4444-555555555555"},
		Spec: v1beta1.ScheduledMachineSpec{
			ClusterName: "desk",
			BootstrapSpec: v1beta1.EmbeddedObject{
				APIVersion: "bootstrap.cluster.x-k8s.io/v1beta2", Kind: "KubeadmConfig",
				Metadata: &v1beta1.EmbeddedMetadata{Labels: map[string]string{"team": "rates"}, Annotations: map[string]string{"note": "hi"}},
				Spec:     runtime.RawExtension{Raw: []byte(`{"joinConfiguration":{"nodeRegistration":{"name":"n"}}}`)},
			},
			InfrastructureSpec: v1beta1.EmbeddedObject{
				APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "DevMachine",
				Spec: runtime.RawExtension{Raw: []byte(`{"backend":{"inMemory":{}}}`)},
			},
			MachineTemplate:  &v1beta1.MachineTemplate{Labels: map[string]string{"rack": "7", "app.kubernetes.io/name": "mine"}},
			NodeDrainTimeout: "90s",
		},
	}
	if change != nil {
		change(sm)
	}
	return sm
}

func TestObjectsOfAScheduledMachine(t *testing.T) {
	for _, version := range []string{capi.VersionV1Beta2, capi.VersionV1Beta1} {
		t.Run(version, func(t *testing.T) {
			var all []string
			for _, build := range []func() (*unstructured.Unstructured, error){
				func() (*unstructured.Unstructured, error) { return capi.Bootstrap(rack(nil)) },
				func() (*unstructured.Unstructured, error) { return capi.Infrastructure(rack(nil)) },
				func() (*unstructured.Unstructured, error) { return capi.Machine(rack(nil), version, "v1.37.2") },
			} {
				object, err := build()
				if err != nil {
					t.Fatal(err)
				}
				text, err := yaml.Marshal(object.Object)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(text))
			}
			golden(t, "objects-"+version+".yaml", strings.Join(all, "---\n"))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant, run with -update:\n%s", path, diff)
	}
}

func TestAnUnknownMachineVersionIsRefused(t *testing.T) {
	if _, err := capi.Machine(rack(nil), "v1", ""); err == nil {
		t.Error("want an error for a version that this package does not know")
	}
	if version, ok := capi.MachineVersion([]string{"v2", "v1beta1", "v1beta2"}); !ok || version != "v1beta2" {
		t.Errorf("got %q, %v; want the newest known version", version, ok)
	}
	if _, ok := capi.MachineVersion([]string{"v2"}); ok {
		t.Error("want no version where none is known")
	}
}

func TestALongNameStillGivesAValidLabel(t *testing.T) {
	long := strings.Repeat("a", 200)
	label := func(name string) string {
		object, err := capi.Machine(rack(func(sm *v1beta1.ScheduledMachine) { sm.Name = name }), capi.VersionV1Beta2, "")
		if err != nil {
			t.Fatal(err)
		}
		return object.GetLabels()[v1beta1.LabelScheduledMachine]
	}
	if got := label(long); len(got) > 63 {
		t.Errorf("the label has %d characters, more than Kubernetes allows", len(got))
	}
	if label(long+"b") == label(long+"c") {
		t.Error("two long names share a label")
	}
}

func TestWhatAnEmbeddedSpecMayNotSay(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1beta1.ScheduledMachineSpec)
		want   string // "" when it is fine
	}{
		"nothing wrong": {func(*v1beta1.ScheduledMachineSpec) {}, ""},
		"core group": {
			func(s *v1beta1.ScheduledMachineSpec) { s.BootstrapSpec.APIVersion = "v1" },
			`spec.bootstrapSpec.apiVersion: Unsupported value: "v1"`,
		},
		"another group": {
			func(s *v1beta1.ScheduledMachineSpec) { s.InfrastructureSpec.APIVersion = "apps/v1" },
			`spec.infrastructureSpec.apiVersion: Unsupported value: "apps/v1"`,
		},
		"bootstrap group for infrastructure": {func(s *v1beta1.ScheduledMachineSpec) {
			s.InfrastructureSpec.APIVersion = "bootstrap.cluster.x-k8s.io/v1beta2"
		}, `spec.infrastructureSpec.apiVersion: Unsupported value`},
		"name": {
			func(s *v1beta1.ScheduledMachineSpec) { s.BootstrapSpec.Metadata = &v1beta1.EmbeddedMetadata{Name: "x"} },
			"spec.bootstrapSpec.metadata.name: Forbidden",
		},
		"namespace": {func(s *v1beta1.ScheduledMachineSpec) {
			s.InfrastructureSpec.Metadata = &v1beta1.EmbeddedMetadata{Namespace: "x"}
		}, "spec.infrastructureSpec.metadata.namespace: Forbidden"},
		"reserved label": {func(s *v1beta1.ScheduledMachineSpec) {
			s.BootstrapSpec.Metadata.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": "other"}
		}, "spec.bootstrapSpec.metadata.labels[cluster.x-k8s.io/cluster-name]: Forbidden: the prefix cluster.x-k8s.io/ is reserved"},
		"reserved annotation": {func(s *v1beta1.ScheduledMachineSpec) {
			s.MachineTemplate.Annotations = map[string]string{"5spot.finos.org/x": ""}
		}, "spec.machineTemplate.annotations[5spot.finos.org/x]: Forbidden"},
		"a subdomain, which Cluster API hands down to the Node": {func(s *v1beta1.ScheduledMachineSpec) {
			s.MachineTemplate.Labels = map[string]string{"node-role.kubernetes.io/trading": ""}
		}, ""},
		"a domain that only ends alike": {func(s *v1beta1.ScheduledMachineSpec) {
			s.MachineTemplate.Labels = map[string]string{"notk8s.io/x": ""}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := rack(nil).Spec
			test.change(&spec)
			errs := capi.Validate(&spec, capi.DefaultAllowedGroups)
			switch {
			case test.want == "" && len(errs) > 0:
				t.Errorf("refused: %v", errs.ToAggregate())
			case test.want != "" && len(errs) != 1:
				t.Errorf("got %d errors, want one: %v", len(errs), errs.ToAggregate())
			case test.want != "" && !strings.HasPrefix(errs[0].Error(), test.want):
				t.Errorf("got %q, want it to begin with %q", errs[0].Error(), test.want)
			}
		})
	}
}

func TestReadingAMachine(t *testing.T) {
	for name, test := range map[string]struct {
		manifest string
		want     capi.MachineState
	}{
		"v1beta2, running": {
			`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  uid: u
  ownerReferences:
  - {apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: c, uid: cluster}
  - {apiVersion: 5spot.finos.org/v1beta1, kind: ScheduledMachine, name: rack, uid: sm, controller: true}
spec: {clusterName: c, providerID: "dev:///1"}
status:
  phase: Running
  initialization: {bootstrapDataSecretCreated: true, infrastructureProvisioned: true}
  nodeRef: {name: node-1}
  conditions: [{type: NodeReady, status: "True"}]`,
			capi.MachineState{
				UID: "u", Owner: "sm", Version: "v1beta2", Phase: "Running", BootstrapDataCreated: true,
				InfrastructureProvisioned: true, NodeName: "node-1", NodeReady: true, ProviderID: "dev:///1",
			},
		},
		"v1beta1, running, with Cluster API's new conditions": {
			`
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {uid: u, annotations: {machine.cluster.x-k8s.io/exclude-node-draining: "", machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach: ""}}
spec: {clusterName: c, providerID: "dev:///1", bootstrap: {}, infrastructureRef: {}}
status:
  phase: Running
  bootstrapReady: true
  infrastructureReady: true
  nodeRef: {kind: Node, name: node-1, uid: nu}
  conditions: [{type: NodeHealthy, status: "False"}]
  v1beta2: {conditions: [{type: NodeReady, status: "True"}, {type: Deleting, status: "True", reason: DrainingNode, message: m}]}`,
			capi.MachineState{
				UID: "u", Version: "v1beta1", Phase: "Running", BootstrapDataCreated: true,
				InfrastructureProvisioned: true, NodeName: "node-1", NodeUID: "nu", NodeReady: true, ProviderID: "dev:///1",
				SkipsDrain: true, DeletingReason: "DrainingNode", DeletingMessage: "m",
			},
		},
		"v1beta1, failed, with the old conditions only": {
			`
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {uid: u}
spec: {clusterName: c, bootstrap: {}, infrastructureRef: {}}
status: {phase: Failed, failureReason: CreateError, failureMessage: no capacity, conditions: [{type: NodeHealthy, status: "True"}]}`,
			capi.MachineState{UID: "u", Version: "v1beta1", Phase: "Failed", NodeReady: true, Failure: "CreateError: no capacity"},
		},
		"v1beta1, volumes are waited for, with the old conditions only": {
			`
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata:
  uid: u
  deletionTimestamp: "2031-05-06T12:00:00Z"
  annotations: {pre-terminate.delete.hook.machine.cluster.x-k8s.io/5spot-drain: 5spot-controller}
spec: {clusterName: c, bootstrap: {}, infrastructureRef: {}}
status:
  phase: Deleting
  conditions:
  - {type: VolumeDetachSucceeded, status: "False", message: Waiting for node volumes to be detached}
  - {type: DrainingSucceeded, status: "True"}
  - {type: PreTerminateDeleteHookSucceeded, status: "False"}`,
			capi.MachineState{
				UID: "u", Version: "v1beta1", Phase: "Deleting", Held: true, DeletedAt: time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC).Local(),
				DeletingReason: "WaitingForVolumeDetach", DeletingMessage: "Waiting for node volumes to be detached",
			},
		},
		"v1beta1, draining, with an old condition that says nothing": {
			`
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {uid: u, deletionTimestamp: "2031-05-06T12:00:00Z"}
spec: {clusterName: c, bootstrap: {}, infrastructureRef: {}}
status: {conditions: [{type: DrainingSucceeded, status: "False"}]}`,
			capi.MachineState{
				UID: "u", Version: "v1beta1", DeletedAt: time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC).Local(),
				DeletingReason: "DrainingNode", DeletingMessage: "the node to be drained",
			},
		},
		"v1beta2, nothing in its status": {
			`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {uid: u}
spec: {clusterName: c}`,
			capi.MachineState{UID: "u", Version: "v1beta2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var object unstructured.Unstructured
			if err := yaml.Unmarshal([]byte(test.manifest), &object.Object); err != nil {
				t.Fatal(err)
			}
			got, err := capi.ReadMachine(&object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("state differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMachineRunsOnlyWhileItsNodeIsReadyAndItIsNotGoing(t *testing.T) {
	running := capi.MachineState{Phase: "Running", NodeReady: true}
	if !running.Running() {
		t.Error("a Running machine with a ready node runs")
	}
	for _, not := range []capi.MachineState{
		{Phase: "Running"},
		{Phase: "Provisioned", NodeReady: true},
		{Phase: "Running", NodeReady: true, DeletedAt: time.Unix(1, 0)},
	} {
		if not.Running() {
			t.Errorf("%+v does not run", not)
		}
	}
}

func TestTheVersionOfAControlPlane(t *testing.T) {
	for name, test := range map[string]struct{ manifest, want string }{
		"runs one, is to run another": {`{spec: {version: v1.38.0}, status: {version: v1.37.2}}`, "v1.37.2"},
		"is to run one":               {`{spec: {version: v1.38.0}}`, "v1.38.0"},
		"tells none":                  {`{spec: {replicas: 3}}`, ""},
		"tells a number":              {`{spec: {version: 1.37}}`, ""},
	} {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(test.manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		if got := capi.ControlPlaneVersion(&object); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestTheControlPlaneOfACluster(t *testing.T) {
	for name, test := range map[string]struct{ manifest, group, kind, object string }{
		"v1beta2": {`{spec: {controlPlaneRef: {apiGroup: g, kind: K, name: cp}}}`, "g", "K", "cp"},
		"v1beta1": {`{spec: {controlPlaneRef: {apiVersion: g/v1, kind: K, name: cp, namespace: x}}}`, "g", "K", "cp"},
		"none":    {`{spec: {}}`, "", "", ""},
	} {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(test.manifest), &object.Object); err != nil {
			t.Fatal(err)
		}
		kind, found := capi.ControlPlaneOf(&object)
		if kind.Group != test.group || kind.Kind != test.kind || found != test.object {
			t.Errorf("%s: got %s %q", name, kind, found)
		}
	}
}

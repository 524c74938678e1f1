// SPDX-License-Identifier: Apache-2.0

package providers_test

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/localcluster/localclustertest"
)

// The kind and the rights of ManualSchedule are the guide's, to the letter.
func TestManifestsOfManualScheduleAreTheGuides(t *testing.T) {
	for ours, guides := range map[string]string{"manual/crd.yaml": "1-crd.yaml", "manual/rbac.yaml": "3-rbac.yaml"} {
		want := read(t, "../../test/guide/testdata/guide/"+guides)
		if diff := cmp.Diff(string(want), string(read(t, ours))); diff != "" {
			t.Errorf("%s (-guide +ours):\n%s", ours, diff)
		}
	}
}

func TestTheDefinitionOfQueueDepthScheduleIsGenerated(t *testing.T) {
	generate := exec.CommandContext(t.Context(), "../../../bin/controller-gen", "crd", "paths=.", "output:stdout")
	generate.Dir = "queue-depth"
	want, err := generate.Output()
	if err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	if diff := cmp.Diff(string(want), string(read(t, "queue-depth/deploy/crd.yaml"))); diff != "" {
		t.Errorf("deploy/crd.yaml is not what is made of types.go (-generated +file):\n%s", diff)
	}
}

// The API server itself judges the pods, by the strictest of the Pod Security
// Standards.
func TestPodsMeetTheRestrictedStandard(t *testing.T) {
	c := localclustertest.Cluster(t).Client()
	restricted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "restricted-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := c.Create(t.Context(), restricted); err != nil {
		t.Fatal(err)
	}
	for _, e := range append(manual, queueDepth) {
		t.Run(e.dir, func(t *testing.T) {
			e.install(t)
			deployment := &appsv1.Deployment{}
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: e.account}, deployment); err != nil {
				t.Fatal(err)
			}
			spec := deployment.Spec.Template.Spec
			if spec.ServiceAccountName != e.account {
				t.Errorf("it runs as %q, want %q", spec.ServiceAccountName, e.account)
			}
			for _, container := range spec.Containers {
				if readOnly := container.SecurityContext.ReadOnlyRootFilesystem; readOnly == nil || !*readOnly {
					t.Errorf("the root filesystem of %s is not read-only", container.Name)
				}
			}
			spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
			off := false // the namespace has no account whose token could be mounted
			spec.AutomountServiceAccountToken = &off
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: restricted.Name, Name: "judged"}, Spec: spec}
			if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

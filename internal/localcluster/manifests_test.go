// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestDeployManifestsAreAllButWhatNeedsPods(t *testing.T) {
	objects, err := deployManifests()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		if kind := object.GetKind(); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	want := []string{
		"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition",
		"Namespace", "Role", "RoleBinding", "ServiceAccount",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestRenderRefusesATreeThatIsNoKustomization(t *testing.T) {
	if _, err := render(fstest.MapFS{"crds/crd.yaml": {Data: []byte("{}")}}); err == nil {
		t.Error("no error for a tree without kustomization.yaml")
	}
}

// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// Who may write a status can write nothing but the status by it.
func TestProviderCannotReachTheToggleByWayOfTheStatus(t *testing.T) {
	schedule := &spotschedulesv1alpha1.ManualSchedule{ObjectMeta: metav1.ObjectMeta{
		Namespace: devplanetest.Namespace(t), Name: "desk-override",
	}}
	admin := devplanetest.Client(t)
	if err := admin.Create(t.Context(), schedule); err != nil {
		t.Fatal(err)
	}
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), systemNamespace, provider)
	if err != nil {
		t.Fatal(err)
	}
	everything := `{"metadata":{"labels":{"a":"b"},"finalizers":["a/b"]},"spec":{"enabled":true},"status":{"active":true}}`
	err = devplanetest.ClientFor(t, config).Status().Patch(t.Context(), schedule, client.RawPatch(types.MergePatchType, []byte(everything)))
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(schedule), schedule); err != nil {
		t.Fatal(err)
	}
	if schedule.Spec.Enabled || len(schedule.Labels) > 0 || len(schedule.Finalizers) > 0 {
		t.Errorf("the toggle is %t, labels %v, finalizers %v; none of it is the provider's to write",
			schedule.Spec.Enabled, schedule.Labels, schedule.Finalizers)
	}
	if schedule.Status.Active == nil || !*schedule.Status.Active {
		t.Error("the status was not written")
	}
}

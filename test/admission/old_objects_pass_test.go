// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"maps"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/devplane/devplanetest"
)

// What was stored before it was refused stays, can be edited elsewhere, and can
// go. It cannot get worse.
func TestOldObjects(t *testing.T) {
	all := maps.Clone(oldSchedules)
	for name, old := range oldMachines {
		old.base = smallestMachine
		if old.edit == "" {
			old.edit = `{"spec": {"enabled": false}, "metadata": {"labels": {"team": "rates"}}}`
		}
		all[name] = old
	}
	for name, old := range all {
		for version := range map[string]bool{"": true, laterVersion: true} {
			t.Run(name+" "+version, func(t *testing.T) {
				admin := devplanetest.Client(t)
				object := with(t, old.base, `{}`, oldNamespace, version)
				object.SetName(name)
				if err := admin.Create(t.Context(), withFault(t, old, version), client.DryRunAll); !apierrors.IsInvalid(err) {
					t.Fatalf("a new one is to be refused: %v", err)
				}
				if err := patched(t, admin, object, old.edit); err != nil {
					t.Errorf("an edit of another field: %v", err)
				}
				if err := patched(t, admin, object, old.worse); !apierrors.IsInvalid(err) {
					t.Errorf("an edit that makes it worse is to be refused: %v", err)
				}
				if err := patched(t, admin, object, `{"metadata": {"finalizers": null}}`); err != nil {
					t.Errorf("taking the finalizer off: %v", err)
				}
				if err := admin.Delete(t.Context(), object.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("deleting it: %v", err)
				}
			})
		}
	}
}

func withFault(t *testing.T, old oldObject, version string) *unstructured.Unstructured {
	t.Helper()
	object := with(t, old.base, old.patch, oldNamespace, version)
	object.SetName("new")
	return object
}

// The controller, with its own account, writes the status of each, and when one
// is deleted takes its finalizer off, so that it goes.
func TestControllerIsNeverInTheWay(t *testing.T) {
	config, err := devplanetest.Plane(t).ServiceAccountConfig(t.Context(), "5spot-system", "5spot-controller")
	if err != nil {
		t.Fatal(err)
	}
	controller, admin := devplanetest.ClientFor(t, config), devplanetest.Client(t)
	for name := range oldMachines {
		t.Run(name, func(t *testing.T) {
			object := with(t, smallestMachine, `{}`, oldNamespace, "")
			object.SetName(name + toGo)
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); apierrors.IsNotFound(err) {
				return // gone already: the tests run more than once
			} else if err != nil {
				t.Fatal(err)
			}
			status := mergePatch(`{"status": {"phase": "Error", "message": "tested", "inSchedule": true}}`)
			if err := controller.Status().Patch(t.Context(), object, status); err != nil {
				t.Errorf("writing the status: %v", err)
			}
			if err := admin.Delete(t.Context(), object.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			if err := controller.Patch(t.Context(), object.DeepCopy(), mergePatch(`{"metadata": {"finalizers": null}}`)); err != nil {
				t.Fatalf("taking the finalizer off: %v", err)
			}
			devplanetest.AwaitGone(t, object)
		})
	}
}

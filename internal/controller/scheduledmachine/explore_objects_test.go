// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/fivespot/fivespot/internal/capi"
)

var (
	bootstrapKind      = schema.GroupKind{Group: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig"}
	infrastructureKind = schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevMachine"}
)

var worldKinds = map[schema.GroupKind]string{
	capi.MachineKind:   "machines",
	bootstrapKind:      "kubeadmconfigs",
	infrastructureKind: "devmachines",
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "OtherMachine"}:   "othermachines",
	{Group: "infrastructure.cluster.x-k8s.io", Kind: "NobodysMachine"}: "",
}

// put stores an object as a new version.
func (w *world) put(kind schema.GroupKind, object *unstructured.Unstructured) *unstructured.Unstructured {
	w.version++
	object.SetResourceVersion(strconv.Itoa(w.version))
	w.objects[kind] = object
	return object.DeepCopy()
}

// remove deletes an object as the API server does: one with finalizers stays and is going.
func (w *world) remove(kind schema.GroupKind) {
	object := w.objects[kind]
	if object == nil {
		return
	}
	if len(object.GetFinalizers()) == 0 {
		w.version++
		delete(w.objects, kind)
		return
	}
	if object.GetDeletionTimestamp() == nil {
		object = object.DeepCopy()
		object.SetDeletionTimestamp(new(metav1.NewTime(w.clock.Now().Truncate(time.Second))))
		w.put(kind, object)
	}
}

// machine returns the Machine of the ScheduledMachine as the API server has it; nil if there is none.
func (w *world) machine() *unstructured.Unstructured {
	machine := w.objects[capi.MachineKind]
	if machine == nil || !reduceChild(machine).ownedBy(ownUID) {
		return nil
	}
	return machine
}

// collect does what the garbage collector does once the ScheduledMachine is gone.
func (w *world) collect() {
	if w.stored() != nil {
		return
	}
	for kind, object := range w.objects {
		if reduceChild(object).ownedBy(ownUID) {
			w.remove(kind)
		}
	}
}

// worldDynamic is what the Reconciler writes Cluster API objects with.
type worldDynamic struct{ *world }

func (w worldDynamic) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	for kind, plural := range worldKinds {
		if plural == resource.Resource && kind.Group == resource.Group {
			return worldResource{world: w.world, kind: kind}
		}
	}
	w.fatalf("the controller writes %s", resource) // a schedule, say
	return nil
}

type worldResource struct {
	dynamic.NamespaceableResourceInterface // of which the Reconciler uses no more than is below

	*world
	kind schema.GroupKind
}

func (w worldResource) Namespace(string) dynamic.ResourceInterface { return w }

func (w worldResource) notFound() error {
	return apierrors.NewNotFound(schema.GroupResource{Group: w.kind.Group, Resource: worldKinds[w.kind]}, worldName.Name)
}

func (w worldResource) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	if w.denied {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: worldKinds[w.kind]}, worldName.Name, errors.New("denied by the test"))
	}
	if object := w.objects[w.kind]; object != nil {
		return object.DeepCopy(), nil
	}
	return nil, w.notFound()
}

func (w worldResource) Create(_ context.Context, object *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (created *unstructured.Unstructured, err error) {
	err = w.write(func() error {
		if w.objects[w.kind] != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: worldKinds[w.kind]}, worldName.Name)
		}
		if w.kind == capi.MachineKind {
			w.checkCreation()
		}
		object = object.DeepCopy()
		object.SetUID(types.UID(fmt.Sprintf("%s-%d", w.kind.Kind, w.version)))
		object.SetCreationTimestamp(metav1.NewTime(w.clock.Now().Truncate(time.Second)))
		created = w.put(w.kind, object)
		return nil
	})
	return created, err
}

func (w worldResource) Delete(_ context.Context, _ string, options metav1.DeleteOptions, _ ...string) error {
	return w.write(func() error {
		object := w.objects[w.kind]
		switch {
		case object == nil:
			return w.notFound()
		case *options.Preconditions.UID != object.GetUID():
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("another UID"))
		case ptr.Deref(options.Preconditions.ResourceVersion, object.GetResourceVersion()) != object.GetResourceVersion():
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("it has changed"))
		}
		if !reduceChild(object).ownedBy(ownUID) {
			w.fatalf("the controller deletes a foreign %s", w.kind.Kind)
		}
		if w.kind == capi.MachineKind {
			w.checkDeletion(object)
		} else if machine := w.machine(); machine != nil {
			w.fatalf("the controller deletes the %s of a Machine", w.kind.Kind)
		}
		w.remove(w.kind)
		return nil
	})
}

func (w worldResource) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (patched *unstructured.Unstructured, err error) {
	err = w.write(func() error {
		object := w.objects[w.kind]
		if object == nil {
			return w.notFound()
		}
		next := &unstructured.Unstructured{}
		if err := merge(object, data, next); err != nil {
			return err
		}
		if next.GetUID() != object.GetUID() {
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("another UID"))
		}
		if next.GetResourceVersion() != object.GetResourceVersion() {
			return apierrors.NewConflict(schema.GroupResource{}, worldName.Name, errors.New("it has changed"))
		}
		w.checkPatch(object, next)
		patched = w.put(w.kind, next)
		return nil
	})
	return patched, err
}

// merge applies a merge patch.
func merge(object any, patch []byte, into any) error {
	before, err := json.Marshal(object)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return err
	}
	return json.Unmarshal(after, into)
}

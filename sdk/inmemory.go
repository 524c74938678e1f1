// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// objectsInMemory are the objects of a simulation. They are to the reconciler
// what the cache and the API server are to it in production.
type objectsInMemory struct {
	client.SubResourceWriter // of which Patch is implemented

	content map[objectRef]*unstructured.Unstructured
	told    map[objectRef]*toldObject
	// versions counts changes.
	versions int64
}

type toldObject struct {
	ctx  context.Context
	tell func(objectState)
}

// scheduleResource stands for the resource of the provider's own kind.
var scheduleResource = schema.GroupVersionResource{Resource: "schedules"}

func refOfSchedule(name types.NamespacedName) objectRef {
	return objectRef{resource: scheduleResource, namespace: name.Namespace, name: name.Name}
}

func newObjectsInMemory() *objectsInMemory {
	return &objectsInMemory{
		content: map[objectRef]*unstructured.Unstructured{},
		told:    map[objectRef]*toldObject{},
	}
}

// apply creates or replaces an object, as the API server would: the status of a
// schedule stays, and its generation counts the changes of its spec.
func (o *objectsInMemory) apply(ref objectRef, object *unstructured.Unstructured, now time.Time) {
	before := o.content[ref]
	o.versions++
	object.SetResourceVersion(strconv.FormatInt(o.versions, 10))
	switch before {
	case nil:
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", o.versions)))
		object.SetGeneration(1)
		object.SetCreationTimestamp(metav1.NewTime(now))
	default:
		object.SetUID(before.GetUID())
		object.SetGeneration(before.GetGeneration())
		object.SetCreationTimestamp(before.GetCreationTimestamp())
		if ref.resource == scheduleResource {
			setOrRemove(object.Object, "status", before.Object["status"])
		}
		if !reflect.DeepEqual(before.Object["spec"], object.Object["spec"]) {
			object.SetGeneration(before.GetGeneration() + 1)
		}
	}
	o.content[ref] = object
	o.changed(ref)
}

// delete reports whether there was the object.
func (o *objectsInMemory) delete(ref objectRef) bool {
	if o.content[ref] == nil {
		return false
	}
	delete(o.content, ref)
	o.changed(ref)
	return true
}

// get returns a copy of an object; nil when there is none.
func (o *objectsInMemory) get(ref objectRef) *unstructured.Unstructured {
	if object := o.content[ref]; object != nil {
		return object.DeepCopy()
	}
	return nil
}

// schedules returns the names of the schedules in order.
func (o *objectsInMemory) schedules() []types.NamespacedName {
	var names []types.NamespacedName
	for ref := range o.content {
		if ref.resource == scheduleResource {
			names = append(names, types.NamespacedName{Namespace: ref.namespace, Name: ref.name})
		}
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return names
}

// follow implements objectReads.follow.
func (o *objectsInMemory) follow(ctx context.Context, ref objectRef, tell func(objectState)) {
	o.told[ref] = &toldObject{ctx: ctx, tell: tell}
	o.changed(ref)
}

func (o *objectsInMemory) changed(ref objectRef) {
	if told := o.told[ref]; told != nil && told.ctx.Err() == nil {
		told.tell(objectState{known: true, object: o.get(ref)})
	}
}

// Get implements client.Reader, for schedules.
func (o *objectsInMemory) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	object := o.get(refOfSchedule(key))
	if object == nil {
		return apierrors.NewNotFound(scheduleResource.GroupResource(), key.Name)
	}
	kind := into.GetObjectKind().GroupVersionKind()
	schedule, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("a simulation reads into no %T", into)
	}
	schedule.Object = object.Object
	schedule.SetGroupVersionKind(kind)
	return nil
}

// List implements client.Reader.
func (*objectsInMemory) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("a simulation lists nothing")
}

// Status implements client.StatusClient.
func (o *objectsInMemory) Status() client.SubResourceWriter { return o }

// Patch implements client.SubResourceWriter: it stores the status of a schedule.
func (o *objectsInMemory) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	patched, ok := object.(*unstructured.Unstructured)
	stored := o.content[refOfSchedule(client.ObjectKeyFromObject(object))]
	if !ok || stored == nil {
		return apierrors.NewNotFound(scheduleResource.GroupResource(), object.GetName())
	}
	o.versions++
	stored.Object["status"] = patched.DeepCopy().Object["status"]
	stored.SetResourceVersion(strconv.FormatInt(o.versions, 10))
	patched.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// objectRef names an object that a schedule depends on.
type objectRef struct {
	resource  schema.GroupVersionResource
	namespace string
	name      string
}

// objectState is what is known of it.
type objectState struct {
	// known is false before the API server has answered for the first time.
	known bool
	// object is nil when there is none.
	object *unstructured.Unstructured
	// err is why it cannot be read.
	err error
}

// revision tells states apart.
func (s objectState) revision() string {
	switch {
	case !s.known:
		return "unknown"
	case s.err != nil:
		return "error " + s.err.Error()
	case s.object == nil:
		return "none"
	}
	return fmt.Sprintf("%s %s", s.object.GetUID(), s.object.GetResourceVersion())
}

// objectReads follows the objects that schedules depend on, each once however
// many depend on it, and no others.
type objectReads struct {
	// ctx ends the following.
	ctx context.Context
	// follow tells of the state of an object, and of every change of it, until
	// ctx is done. It does not block.
	follow func(ctx context.Context, ref objectRef, tell func(objectState))
	// wake has a schedule evaluated again.
	wake func(schedule types.NamespacedName)

	mu         sync.Mutex
	followed   map[objectRef]*followedObject
	bySchedule map[types.NamespacedName][]objectRef
}

type followedObject struct {
	state      objectState
	dependents map[types.NamespacedName]bool
	stop       context.CancelFunc
}

func newObjectReads(
	ctx context.Context,
	follow func(context.Context, objectRef, func(objectState)),
	wake func(types.NamespacedName),
) *objectReads {
	return &objectReads{
		ctx: ctx, follow: follow, wake: wake,
		followed:   map[objectRef]*followedObject{},
		bySchedule: map[types.NamespacedName][]objectRef{},
	}
}

// read returns what is known of an object, and follows it from now on: the
// schedule is woken at every change of that.
func (r *objectReads) read(schedule types.NamespacedName, ref objectRef) objectState {
	r.mu.Lock()
	followed, known := r.followed[ref]
	var ctx context.Context
	if !known {
		followed = &followedObject{dependents: map[types.NamespacedName]bool{}}
		ctx, followed.stop = context.WithCancel(r.ctx)
		r.followed[ref] = followed
	}
	if !followed.dependents[schedule] {
		followed.dependents[schedule] = true
		r.bySchedule[schedule] = append(r.bySchedule[schedule], ref)
	}
	r.mu.Unlock()
	if !known {
		r.follow(ctx, ref, func(state objectState) { r.changed(ref, followed, state) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return followed.state
}

// changed takes note of a state, and wakes those who depend on it.
func (r *objectReads) changed(ref objectRef, followed *followedObject, state objectState) {
	r.mu.Lock()
	var woken []types.NamespacedName
	if r.followed[ref] == followed && state.revision() != followed.state.revision() {
		followed.state = state
		for schedule := range followed.dependents {
			woken = append(woken, schedule)
		}
	}
	r.mu.Unlock()
	for _, schedule := range woken {
		r.wake(schedule)
	}
}

// keep lets go of what a schedule depended on and does not any more. An object
// on which nothing depends is not followed.
func (r *objectReads) keep(schedule types.NamespacedName, refs []objectRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keepOnly(r.bySchedule, schedule, refs, func(ref objectRef) {
		followed := r.followed[ref]
		delete(followed.dependents, schedule)
		if len(followed.dependents) == 0 {
			followed.stop()
			delete(r.followed, ref)
		}
	})
}

// notFound says in our words that there is no object, and is the API server's
// error of that.
func notFound(d declaration, name string) error {
	return NotReady(ReasonObjectNotFound, &rewordedError{
		text:  fmt.Sprintf("the %s %q does not exist in the namespace of the schedule", d.kind, name),
		cause: apierrors.NewNotFound(d.resource.GroupResource(), name),
	})
}

func unreadable(d declaration, name string, why error) error {
	return NotReady(ReasonObjectUnreadable, fmt.Errorf("the %s %q cannot be read: %w", d.kind, name, why))
}

// undecodable says why an object does not decode. Of a Secret it says no more,
// since the text may quote a value.
func undecodable(resource schema.GroupVersionResource, err error) error {
	if resource == Secrets.resource {
		return errors.New("it does not have the shape of a Secret")
	}
	return fmt.Errorf("it does not have the shape that the provider expects: %w", err)
}

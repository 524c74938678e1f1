// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
)

// foreignError says that an object has the name that ours would have and does
// not belong to this ScheduledMachine. It is never adopted.
type foreignError struct{ kind, namespace, name string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("%s %s/%s exists and does not belong to this ScheduledMachine: remove it, or give the ScheduledMachine another name",
		e.kind, e.namespace, e.name)
}

// errGoing says that an object with our name is on its way out; its going wakes the reconcile.
var errGoing = errors.New("an earlier object of the same name is still being deleted")

// errChanged says that what would be acted upon is not so any more. The caches are
// behind, and wake the reconcile when they are not.
var errChanged = errors.New("it has changed since it was read")

// act takes the step that was decided on.
func (r *Reconciler) act(ctx context.Context, f *facts) error {
	switch f.did {
	case stepCreate:
		return r.createAll(ctx, f.sm, f.seen)
	case stepDelete:
		return r.deleteMachine(ctx, f)
	case stepReplace:
		return r.replaceMachine(ctx, f)
	case stepDrain:
		return r.drainAndLetGo(ctx, f)
	case stepHold:
		return r.hold(ctx, f.sm, f.seen.machine)
	case stepLetGo:
		return r.letGo(ctx, f.sm, f.seen.machine)
	case stepForgetNode:
		return r.forgetNode(ctx, f)
	case stepSyncDrain:
		return r.syncDrain(ctx, f.sm, f.seen.machine)
	case stepSkipDrain:
		return r.skipDrain(ctx, f.sm, f.seen.machine)
	case stepCleanUp:
		return r.cleanUp(ctx, f.sm, f.seen)
	case stepRelease:
		return r.releaseEmpty(ctx, f)
	case stepAbandon:
		return r.abandon(ctx, f, left(f))
	case stepNone, stepRecord, stepBeginDrain, stepGiveUpDrain, stepQueue:
	}
	return nil
}

// createAll creates what is missing, the Machine last: until it exists Cluster
// API does nothing, so a crash on the way leaves nothing running.
func (r *Reconciler) createAll(ctx context.Context, sm *v1beta1.ScheduledMachine, seen *observation) error {
	for _, part := range []struct {
		piece
		build func() (*unstructured.Unstructured, error)
	}{
		{seen.bootstrap, func() (*unstructured.Unstructured, error) { return capi.Bootstrap(sm) }},
		{seen.infrastructure, func() (*unstructured.Unstructured, error) { return capi.Infrastructure(sm) }},
		{seen.machine, func() (*unstructured.Unstructured, error) {
			return capi.Machine(sm, seen.machine.version, seen.kubernetes)
		}},
	} {
		if part.present() {
			continue
		}
		object, err := part.build()
		if err != nil {
			return err
		}
		if err := r.create(ctx, sm, part.piece, object); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) create(ctx context.Context, sm *v1beta1.ScheduledMachine, p piece, object *unstructured.Unstructured) error {
	foreign := &foreignError{p.kind.Kind, sm.Namespace, sm.Name}
	if p.foreign() {
		return foreign
	}
	created, err := r.resource(sm, p).Create(ctx, object, metav1.CreateOptions{FieldManager: v1beta1.FieldManager})
	if apierrors.IsAlreadyExists(err) {
		created, err = r.resource(sm, p).Get(ctx, sm.Name, metav1.GetOptions{})
		if err == nil && !reduceChild(created).ownedBy(sm.UID) {
			return foreign
		}
		if err == nil && created.GetDeletionTimestamp() != nil {
			return errGoing
		}
		if err == nil && p.kind.GroupKind == capi.MachineKind { // what is known of it is on record
			r.expect(p, created)
			return errMachineExists
		}
	}
	if err != nil {
		return fmt.Errorf("creating %s %s: %w", p.kind.Kind, sm.Name, err)
	}
	r.expect(p, created)
	return nil
}

// deleteMachine deletes the Machine and leaves the rest to Cluster API.
func (r *Reconciler) deleteMachine(ctx context.Context, f *facts) error {
	if err := r.confirm(ctx, f); err != nil {
		return err
	}
	var untold error // which nothing waits for
	if machine := f.machine(); f.wanted.skipDrain {
		untold = r.skipDrain(ctx, f.sm, f.seen.machine) // tried again while the Machine goes
		if !machine.Held && oursToDrain(f, machine) {   // so that its Node is on record before it is gone
			untold = errors.Join(untold, r.hold(ctx, f.sm, f.seen.machine))
		}
	}
	return errors.Join(r.delete(ctx, f.sm, f.seen.machine), untold)
}

// replaceMachine deletes a Machine that failed. The status says the same before
// and after, so that the event does not come with a change of it.
// A Machine is replaced as it was seen: it may have come up, or be gone, by now.
func (r *Reconciler) replaceMachine(ctx context.Context, f *facts) error {
	if err := r.confirm(ctx, f); err != nil {
		return err
	}
	machine := f.seen.machine
	err := r.resource(f.sm, machine).Delete(ctx, f.sm.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: &machine.child.UID, ResourceVersion: &machine.child.ResourceVersion,
	}})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return errChanged
	case err != nil:
		return fmt.Errorf("deleting Machine %s, which failed: %w", f.sm.Name, err)
	}
	note := "Replacing Machine " + f.sm.Name + ": " + f.failures.Message
	r.events.Eventf(f.sm, nil, corev1.EventTypeWarning, v1beta1.ReasonMachineReplaced, "DeleteMachine", "%s", clip(note, noteLimit))
	return nil
}

// confirm looks at the API server's own copy before a machine is taken down: the
// cache of a replica that has just taken over may be behind, and a switch that
// has been cleared since, or a verdict that is only held, must not count.
func (r *Reconciler) confirm(ctx context.Context, f *facts) error {
	var live v1beta1.ScheduledMachine
	err := r.apiReader.Get(ctx, client.ObjectKeyFromObject(f.sm), &live)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading the ScheduledMachine once more: %w", err)
	}
	down := f.wanted.bySchedule && !f.wanted.up
	if err != nil || live.UID != f.sm.UID || live.Generation != f.sm.Generation || down && followedOf(outlookOf(&live.Status)) {
		return errChanged
	}
	return nil
}

// errMachineExists says that the cache does not know of a Machine yet.
var errMachineExists = fmt.Errorf("there is a Machine that was not seen yet: %w", errChanged)

// cleanUp deletes what has no Machine. That there is none is looked up once
// more: what belongs to a Machine is not taken from under it.
func (r *Reconciler) cleanUp(ctx context.Context, sm *v1beta1.ScheduledMachine, seen *observation) error {
	if err := r.confirmNoMachine(ctx, sm, seen); err != nil {
		return err
	}
	for _, p := range orphans(seen) {
		if err := r.delete(ctx, sm, p); err != nil {
			return err
		}
	}
	return nil
}

// confirmNoMachine asks the API server itself whether there is no Machine of ours: the
// cache of a replica that has just taken over may not know of the last one made.
func (r *Reconciler) confirmNoMachine(ctx context.Context, sm *v1beta1.ScheduledMachine, seen *observation) error {
	if seen.machine.kind.Kind == "" {
		return nil
	}
	machine, err := r.resource(sm, seen.machine).Get(ctx, sm.Name, metav1.GetOptions{})
	switch {
	case err == nil && reduceChild(machine).ownedBy(sm.UID):
		return errMachineExists
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for Machine %s: %w", sm.Name, err)
	}
	return nil
}

// delete deletes the very object that was seen: one that has taken its name since stays.
func (r *Reconciler) delete(ctx context.Context, sm *v1beta1.ScheduledMachine, p piece) error {
	p.version = childVersion(p.kind) // the version of the spec may no longer be served
	err := r.resource(sm, p).Delete(ctx, sm.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.child.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting %s %s: %w", p.kind.Kind, sm.Name, err)
	}
	return nil
}

func (r *Reconciler) skipDrain(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece) error {
	patch := map[string]any{"metadata": map[string]any{"annotations": capi.SkipDrainAnnotations()}}
	if err := r.patchMachine(ctx, sm, machine, patch); err != nil {
		return fmt.Errorf("telling Cluster API to skip the drain of Machine %s: %w", sm.Name, err)
	}
	return nil
}

// hold has Cluster API wait for us when the Machine is deleted.
func (r *Reconciler) hold(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece) error {
	return r.patchHold(ctx, sm, machine, capi.HoldPatch())
}

// letGo ends that. A Machine is let go as it was seen: it may be deleted by now, or
// past the drain that was to be Cluster API's.
func (r *Reconciler) letGo(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece) error {
	return r.patchHold(ctx, sm, machine, capi.LetGoPatch(machine.child.ResourceVersion))
}

func (r *Reconciler) patchHold(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece, patch map[string]any) error {
	err := r.patchMachine(ctx, sm, machine, patch)
	if apierrors.IsConflict(err) {
		return errChanged
	}
	if err != nil {
		return fmt.Errorf("changing whether Cluster API waits for 5-Spot when Machine %s is deleted: %w", sm.Name, err)
	}
	return nil
}

func (r *Reconciler) syncDrain(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece) error {
	if err := r.patchMachine(ctx, sm, machine, capi.DrainTimeoutPatch(machine.version, drainTimeout(sm))); err != nil {
		return fmt.Errorf("changing the drain timeout of Machine %s: %w", sm.Name, err)
	}
	return nil
}

// patchMachine merges into the very Machine that was seen; one that is gone needs nothing.
func (r *Reconciler) patchMachine(ctx context.Context, sm *v1beta1.ScheduledMachine, machine piece, patch map[string]any) error {
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["uid"] = machine.child.UID
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding the patch: %w", err)
	}
	patched, err := r.resource(sm, machine).Patch(ctx, sm.Name, types.MergePatchType, text, metav1.PatchOptions{FieldManager: v1beta1.FieldManager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.expect(machine, patched)
	return nil
}

// abandon lets a ScheduledMachine go that has been kept for as long as it may
// be. What is left is on its way out by Cluster API, or follows its owner.
func (r *Reconciler) abandon(ctx context.Context, f *facts, left string) error {
	note := "Not everything was gone " + f.limits.finalizer.String() + " after spec.gracefulShutdownTimeout: " + left +
		". The ScheduledMachine is let go; see to what is left"
	if machine := f.machine(); machine != nil && machine.Held { // nobody else would let it go
		err := r.letGo(ctx, f.sm, f.seen.machine)
		if errors.Is(err, errChanged) {
			return err
		}
		if err != nil { // it is tried again once the ScheduledMachine is gone
			note += ". Failed so far: " + err.Error()
		}
	}
	if err := r.release(ctx, f.sm); err != nil {
		return err
	}
	r.events.Eventf(f.sm, nil, corev1.EventTypeWarning, v1beta1.ReasonFinalizerCleanupTimedOut, "ReleaseScheduledMachine", "%s", clip(note, noteLimit))
	r.metrics.abandoned.WithLabelValues().Inc()
	return nil
}

// left names what is still there.
func left(f *facts) string {
	var names []string
	for _, p := range f.seen.pieces() {
		switch {
		case p.unreadable != nil:
			names = append(names, p.unreadable.Error())
		case p.present():
			names = append(names, p.kind.Kind+" "+f.sm.Name)
		}
	}
	if nodeIsLeft(f) {
		names = append(names, "Node "+f.sm.Status.NodeRef.Name)
	}
	if machine := f.machine(); machine != nil && machine.DeletingMessage != "" {
		names = append(names, "Cluster API says: "+machine.DeletingMessage)
	}
	return strings.Join(names, ", ")
}

// releaseEmpty lets a deleted ScheduledMachine go that has no Machine. Where the API
// server does not say so, it is kept for as long as it may be.
func (r *Reconciler) releaseEmpty(ctx context.Context, f *facts) error {
	err := r.confirmNoMachine(ctx, f.sm, f.seen)
	switch {
	case err == nil:
		return r.release(ctx, f.sm)
	case f.now.Before(finalizerDeadline(f)):
		return err
	}
	return r.abandon(ctx, f, err.Error())
}

// release removes our finalizer, which lets a deleted ScheduledMachine go.
func (r *Reconciler) release(ctx context.Context, sm *v1beta1.ScheduledMachine) error {
	after := sm.DeepCopy()
	controllerutil.RemoveFinalizer(after, v1beta1.Finalizer)
	return r.patchFinalizers(ctx, sm, after)
}

func (r *Reconciler) patchFinalizers(ctx context.Context, before, after *v1beta1.ScheduledMachine) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.client.Patch(ctx, after, patch, client.FieldOwner(v1beta1.FieldManager))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("changing the finalizers: %w", err)
	}
	return nil
}

// expect has the children's cache wait for what was just written.
func (r *Reconciler) expect(p piece, written *unstructured.Unstructured) {
	name := types.NamespacedName{Namespace: written.GetNamespace(), Name: written.GetName()}
	r.children.Expect(p.kind.GroupKind, name, written.GetResourceVersion())
}

func (r *Reconciler) resource(sm *v1beta1.ScheduledMachine, p piece) dynamic.ResourceInterface {
	return r.dynamic.Resource(p.kind.Resource(p.version)).Namespace(sm.Namespace)
}

// SPDX-License-Identifier: Apache-2.0

package scheduledmachine

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/fivespot/fivespot/api/contract"
	"github.com/fivespot/fivespot/api/v1beta1"
	"github.com/fivespot/fivespot/internal/capi"
	"github.com/fivespot/fivespot/internal/kinds"
	"github.com/fivespot/fivespot/internal/workload"
)

// observation is everything that a decision goes by. It is read from caches.
type observation struct {
	// reading is what the schedule says; readingKnown is false while its kind is still being read.
	reading      contract.Reading
	readingKnown bool
	// machine, bootstrap and infrastructure are the objects named after the ScheduledMachine.
	machine, bootstrap, infrastructure piece
	// kubernetes is the Kubernetes version for the machine's node; empty if nobody tells.
	kubernetes string
	// drainer is who drains the machine's node, and deletes the Node, when the
	// Machine is deleted.
	drainer drainer
	// controlled is true when the cluster has a control plane object, and so an API
	// server of its own.
	controlled bool
	// view is what is known of the workload cluster and the node; nil when nothing
	// is to be done there.
	view *workload.View
	// connection says why Cluster API cannot reach the workload cluster; empty if it can.
	connection string
	// leftovers are objects of kinds that the spec named once and no longer does.
	leftovers []piece
	// problems say what is wrong with the embedded specs.
	problems field.ErrorList
}

// pieces returns all that was looked for.
func (o *observation) pieces() []piece {
	return append([]piece{o.machine, o.bootstrap, o.infrastructure}, o.leftovers...)
}

// drainer is who drains a node when its Machine is deleted.
type drainer int

const (
	// drainerUnknown: the cluster cannot be read.
	drainerUnknown drainer = iota
	// drainerClusterAPI: as it does where it knows of a control plane.
	drainerClusterAPI
	// drainerUs: Cluster API would not, since it knows of no control plane of the cluster.
	drainerUs
	// drainerNobody: the cluster goes, or its control plane does, which Cluster API
	// takes for the end of its nodes.
	drainerNobody
)

// piece is one of the Cluster API objects of a ScheduledMachine.
type piece struct {
	// kind is the object's kind as it is installed; its Kind is empty when it is not.
	kind kinds.Kind
	// version is the version to write the object at.
	version string
	// child is the object; nil when there is none.
	child *child
	// unreadable says why nobody can tell whether there is an object; nil if one can.
	unreadable error
	// ours is true when the object belongs to this very ScheduledMachine.
	ours bool
}

func (p piece) present() bool  { return p.child != nil && p.ours }
func (p piece) foreign() bool  { return p.child != nil && !p.ours }
func (p piece) doubtful() bool { return p.unreadable != nil }
func (p piece) deleting() bool { return p.present() && !p.child.DeletionTimestamp.IsZero() }

// state returns the Machine's state; nil when there is no Machine of ours.
func (p piece) state() *capi.MachineState {
	if !p.present() {
		return nil
	}
	return p.child.machine
}

// loadingError says that a cache has yet to see what was asked for. Whoever
// knows wakes the reconcile.
type loadingError struct{ kind schema.GroupKind }

func (e *loadingError) Error() string {
	return "the objects of kind " + e.kind.String() + " are still being read"
}

// observe reads the caches. It returns a loadingError when they are not ready.
func (r *Reconciler) observe(sm *v1beta1.ScheduledMachine) (observation, error) {
	var seen observation
	seen.reading, seen.readingKnown = r.schedules.Read(sm.Namespace, sm.Spec.Schedule)
	seen.problems = capi.Validate(&sm.Spec, r.allowed)

	var err error
	if seen.machine, err = r.observePiece(sm, capi.MachineKind); err != nil {
		return seen, err
	}
	if seen.machine.unreadable != nil {
		seen.problems = append(seen.problems, field.InternalError(field.NewPath("spec"), seen.machine.unreadable))
	}
	if err := r.observeCluster(sm, &seen); err != nil {
		return seen, err
	}
	spec := field.NewPath("spec")
	if seen.bootstrap, err = r.observeEmbedded(sm, &sm.Spec.BootstrapSpec, spec.Child("bootstrapSpec"), &seen.problems); err != nil {
		return seen, err
	}
	if seen.infrastructure, err = r.observeEmbedded(sm, &sm.Spec.InfrastructureSpec, spec.Child("infrastructureSpec"), &seen.problems); err != nil {
		return seen, err
	}
	r.observeNode(sm, &seen)
	err = r.observeLeftovers(sm, &seen)
	return seen, err
}

// observeEmbedded reads an embedded spec's object and notes a kind or version
// that is not served.
func (r *Reconciler) observeEmbedded(sm *v1beta1.ScheduledMachine, object *v1beta1.EmbeddedObject, path *field.Path, problems *field.ErrorList) (piece, error) {
	wanted := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	if !r.allowed.Allows(wanted.Group) {
		return piece{}, nil // Validate has said so
	}
	found, err := r.observePiece(sm, wanted.GroupKind())
	if err != nil {
		return found, err
	}
	found.version = wanted.Version
	switch {
	case found.unreadable != nil:
		*problems = append(*problems, field.InternalError(path.Child("kind"), found.unreadable))
	case found.kind.Kind == "":
		*problems = append(*problems, field.Invalid(path.Child("kind"), object.Kind,
			fmt.Sprintf("no CRD for this kind in group %s is installed", wanted.Group)))
	case !slices.Contains(found.kind.Served, wanted.Version):
		*problems = append(*problems, field.NotSupported(path.Child("apiVersion"), object.APIVersion, servedVersions(found.kind)))
	}
	return found, nil
}

func servedVersions(kind kinds.Kind) []string {
	all := make([]string, 0, len(kind.Served))
	for _, version := range kind.Served {
		all = append(all, kind.Group+"/"+version)
	}
	return all
}

// observeLeftovers reads objects that the status names and the spec no longer does.
// It notes one whose kind cannot be read.
func (r *Reconciler) observeLeftovers(sm *v1beta1.ScheduledMachine, seen *observation) error {
	spec := field.NewPath("spec")
	for _, pair := range []struct {
		ref  *v1beta1.ObjectReference
		spec v1beta1.EmbeddedObject
		path *field.Path
	}{
		{sm.Status.BootstrapRef, sm.Spec.BootstrapSpec, spec.Child("bootstrapSpec")},
		{sm.Status.InfrastructureRef, sm.Spec.InfrastructureSpec, spec.Child("infrastructureSpec")},
	} {
		if pair.ref == nil || refersTo(pair.ref, &pair.spec) {
			continue
		}
		was := schema.FromAPIVersionAndKind(pair.ref.APIVersion, pair.ref.Kind)
		if !r.allowed.Allows(was.Group) {
			continue
		}
		found, err := r.observePiece(sm, was.GroupKind())
		if err != nil {
			return err
		}
		if found.doubtful() {
			found.kind.GroupKind = was.GroupKind() // so that it stays on record
			seen.problems = append(seen.problems, field.InternalError(pair.path.Child("kind"), found.unreadable))
		}
		if found.present() || found.doubtful() {
			seen.leftovers = append(seen.leftovers, found)
		}
	}
	return nil
}

func (r *Reconciler) observePiece(sm *v1beta1.ScheduledMachine, kind schema.GroupKind) (piece, error) {
	r.children.Want(kind)
	result := r.children.Get(kind, types.NamespacedName{Namespace: sm.Namespace, Name: sm.Name})
	switch result.State {
	case kinds.NotInstalled:
		return piece{}, nil
	case kinds.Unreadable:
		return piece{unreadable: fmt.Errorf("listing the objects of kind %s: %w", kind, result.Err)}, nil
	case kinds.Absent:
		return piece{kind: result.Kind, version: childVersion(result.Kind)}, nil
	case kinds.Present:
		return presentPiece(sm, result), nil
	case kinds.Loading:
	}
	return piece{}, &loadingError{kind: kind}
}

// heldMachine returns a Machine of this name that Cluster API holds for us.
func (r *Reconciler) heldMachine(name types.NamespacedName) (machine piece, held bool) {
	found := r.children.Get(capi.MachineKind, name)
	if found.State != kinds.Present || found.Object.machine == nil || !found.Object.machine.Held {
		return piece{}, false
	}
	return piece{kind: found.Kind, version: childVersion(found.Kind), child: found.Object}, true
}

func presentPiece(sm *v1beta1.ScheduledMachine, result kinds.Result[*child]) piece {
	if unreadable := result.Object.problem; unreadable != nil {
		return piece{kind: result.Kind, unreadable: unreadable}
	}
	return piece{
		kind: result.Kind, version: childVersion(result.Kind),
		child: result.Object, ours: result.Object.ownedBy(sm.UID),
	}
}

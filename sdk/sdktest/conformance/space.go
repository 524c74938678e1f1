// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager owns what the kit writes, and runLabel marks what it makes.
const (
	fieldManager = "fivespot-conformance"
	runLabel     = "conformance.5spot.finos.org/run"
)

// space is a namespace in which the kit works, and what was seen there.
type space struct {
	env       *env
	namespace *corev1.Namespace
	temporary bool
	seen      *recorder
	stop      context.CancelFunc

	mu       sync.Mutex
	subjects []*subject
	// made are the objects to remove one by one, where the namespace stays.
	made []client.Object

	accompanying sync.Mutex
	// companions are the further objects of samples, with the option of the sample
	// that they are like now.
	companions map[string]string
}

// home returns the space of the checks that need one namespace.
func (e *env) home(ctx context.Context) (*space, error) {
	if len(e.spaces) > 0 {
		return e.spaces[0], nil
	}
	return e.openSpace(ctx)
}

// openSpace makes a namespace, or takes the one of the options, and records what
// happens in it.
func (e *env) openSpace(ctx context.Context) (*space, error) {
	s := &space{env: e, namespace: &corev1.Namespace{}, seen: newRecorder(e.clock), companions: map[string]string{}}
	s.namespace.Name = e.options.Namespace
	if s.temporary = s.namespace.Name == ""; s.temporary {
		s.namespace.GenerateName = "conformance-"
		s.namespace.Labels = map[string]string{runLabel: e.run}
		if err := e.create(ctx, s.namespace); err != nil {
			return nil, fmt.Errorf("making a namespace: %w", err)
		}
	} else if err := e.client.Get(ctx, client.ObjectKeyFromObject(s.namespace), &corev1.Namespace{}); apierrors.IsNotFound(err) {
		return nil, &OptionError{Option: "Namespace", Problem: fmt.Sprintf("there is no namespace %s to work in", s.namespace.Name)}
	}
	// The record goes on until the space is closed, whatever the check's context.
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	e.spaces = append(e.spaces, s)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(e.kind().GroupVersion().WithKind(e.kind().Kind + "List"))
	return s, s.seen.start(recording, e.client, list, s.namespace.Name)
}

// answerTime is longer than the minute after which an API server ends a request.
const answerTime = 65 * time.Second

// create makes an object, unless ctx has ended. Where it ends meanwhile, the answer is
// waited for all the same: what nobody knows to be there, nobody removes.
func (e *env) create(ctx context.Context, object client.Object) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	return e.client.Create(ctx, object, client.FieldOwner(fieldManager))
}

// close ends the record and deletes what the kit made: a temporary namespace
// with all in it, or one by one.
func (s *space) close(ctx context.Context) error {
	s.stop()
	if s.temporary {
		if err := client.IgnoreNotFound(s.env.client.Delete(ctx, s.namespace)); err != nil {
			return fmt.Errorf("deleting the namespace %s: %w", s.namespace.Name, err)
		}
		return nil
	}
	var errs []error
	for _, object := range slices.Backward(s.made) {
		if err := client.IgnoreNotFound(s.env.client.Delete(ctx, object)); err != nil {
			errs = append(errs, fmt.Errorf("deleting %s in the namespace %s: %w", object.GetName(), s.namespace.Name, err))
		}
	}
	return errors.Join(errs...)
}

// create makes an object from a sample, and before it what the sample needs.
// The part names the object within the run.
func (s *space) create(ctx context.Context, part string, from *sample) (*subject, error) {
	if err := s.accompany(ctx, from); err != nil {
		return nil, err
	}
	object := from.object.DeepCopy()
	delete(object.Object, "status")
	object.Object["metadata"] = map[string]any{}
	object.SetGroupVersionKind(s.env.kind())
	object.SetLabels(merged(from.object.GetLabels(), runLabel, s.env.run))
	object.SetAnnotations(from.object.GetAnnotations())
	object.SetNamespace(s.namespace.Name)
	object.SetName(s.name(part))
	if err := s.make(ctx, object); err != nil {
		return nil, refusedSample(from, err)
	}
	made := &subject{
		space: s, name: object.GetName(), wrote: object, own: map[string]bool{object.GetResourceVersion(): true},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subjects = append(s.subjects, made)
	return made, nil
}

// name is the part alone in a namespace of our own.
func (s *space) name(part string) string {
	if s.temporary {
		return part
	}
	return "conformance-" + s.env.run + "-" + part
}

// make creates an object and remembers it where its namespace stays.
func (s *space) make(ctx context.Context, object client.Object) error {
	if err := s.env.create(ctx, object); err != nil {
		return err
	}
	if !s.temporary {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made = append(s.made, object)
	}
	return nil
}

// accompany makes the further objects of a sample, or turns those that another
// sample made into its own.
func (s *space) accompany(ctx context.Context, from *sample) error {
	s.accompanying.Lock()
	defer s.accompanying.Unlock()
	for _, other := range from.others {
		object := other.DeepCopy()
		if namespaced, err := s.env.client.IsObjectNamespaced(object); err != nil || !namespaced {
			return &OptionError{Option: from.option, Problem: fmt.Sprintf(
				"%s %s of the manifest has to be of a namespaced kind that is served", object.GetKind(), object.GetName())}
		}
		object.SetNamespace(s.namespace.Name)
		object.SetLabels(merged(object.GetLabels(), runLabel, s.env.run))
		key := keyOf(other)
		var err error
		switch s.companions[key] {
		case from.option:
			continue
		case "":
			err = s.make(ctx, object)
		default:
			err = s.env.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
				client.FieldOwner(fieldManager), client.ForceOwnership)
		}
		if isRefused(err) {
			return &OptionError{Option: from.option, Problem: fmt.Sprintf(
				"the API server refuses %s %s of the manifest: %v", object.GetKind(), object.GetName(), err)}
		}
		if err != nil {
			return err
		}
		s.companions[key] = from.option
	}
	return nil
}

// isRefused reports whether the API server, or its admission, found fault with
// an object. Whoever could make one before may make one now, so Forbidden is
// the word of an admission policy.
func isRefused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err)
}

// refusedSample turns a refusal into the fault of an option; the invalid sample may be refused.
func refusedSample(from *sample, err error) error {
	if isRefused(err) && from.option != "Invalid" {
		return &OptionError{Option: from.option, Problem: fmt.Sprintf("the API server refuses the manifest: %v", err)}
	}
	return err
}

func merged(labels map[string]string, key, value string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, labels)
	all[key] = value
	return all
}

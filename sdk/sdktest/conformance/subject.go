// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subject is an object that the kit made, for a provider to decide about.
type subject struct {
	space *space
	name  string
	// wrote is the object as the API server returned it from the kit's last write
	// beside the status.
	wrote *unstructured.Unstructured
	// own are the resource versions that the kit's writes made, of whatever part.
	own map[string]bool
	// deleted says that the kit deleted it.
	deleted bool
}

// missingError says what did not come while the kit had patience.
type missingError struct {
	within time.Duration
	what   error
}

func (e *missingError) Error() string { return fmt.Sprintf("after %s, %v", e.within, e.what) }

// errPatience is the cause of a wait's end.
var errPatience = errors.New("it took too long")

// until returns when check finds nothing missing in a record, whose lock it is
// called with; the error of check says what is missing. When it does not come,
// the error is a *missingError.
func (e *env) until(ctx context.Context, seen *recorder, check func() error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, e.options.Patience, errPatience)
	defer cancel()
	var missing error
	err := seen.until(bounded, func() bool {
		missing = check()
		return missing == nil
	})
	if errors.Is(err, errPatience) {
		return &missingError{e.options.Patience, missing}
	}
	return err
}

// await returns the first state, from the latest on, that check finds nothing
// missing in. Its error is that of env.until.
func (s *subject) await(ctx context.Context, check func(*unstructured.Unstructured) error) (*state, error) {
	seen := s.space.seen
	var found *state
	err := s.space.env.until(ctx, seen, func() error {
		found = seen.last(s.name)
		switch {
		case found == nil:
			return errors.New("the object has not been seen")
		case found.gone || found.GetUID() != s.wrote.GetUID():
			return errors.New("the object is gone, though the kit did not delete it")
		}
		return check(found.Unstructured)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// awaitActive waits until status.active is the boolean.
func (s *subject) awaitActive(ctx context.Context, want bool) (*state, error) {
	return s.await(ctx, func(object *unstructured.Unstructured) error { return activeIs(object, want) })
}

// set replaces the spec by that of a sample.
func (s *subject) set(ctx context.Context, to *sample) error {
	if err := s.space.accompany(ctx, to); err != nil {
		return err
	}
	patch := []map[string]any{{"op": "add", "path": "/spec", "value": to.spec()}}
	if err := s.patch(ctx, types.JSONPatchType, patch); err != nil {
		return refusedSample(to, err)
	}
	return nil
}

// touchAnnotation is written where an edit must not matter to a provider.
const touchAnnotation = "conformance.5spot.finos.org/touched"

// touch edits an annotation, which changes no verdict and no generation.
func (s *subject) touch(ctx context.Context, value string) error {
	return s.patch(ctx, types.MergePatchType, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{touchAnnotation: value}},
	})
}

func (s *subject) patch(ctx context.Context, kind types.PatchType, patch any) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("writing a patch: %w", err)
	}
	object := s.reference()
	if err := s.space.env.client.Patch(ctx, object, client.RawPatch(kind, text), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("editing the object: %w", err)
	}
	s.wrote = object
	s.own[object.GetResourceVersion()] = true
	return nil
}

// remove deletes the object and returns when it is gone.
func (s *subject) remove(ctx context.Context) error {
	s.deleted = true
	if err := client.IgnoreNotFound(s.space.env.client.Delete(ctx, s.reference())); err != nil {
		return fmt.Errorf("deleting the object: %w", err)
	}
	seen := s.space.seen
	return s.space.env.until(ctx, seen, func() error {
		if now := seen.last(s.name); now != nil && now.gone && now.GetUID() == s.wrote.GetUID() {
			return nil
		}
		return errors.New("the deleted object is still there: is there a finalizer that nobody takes off?")
	})
}

// reference returns an empty object with the kind, the namespace and the name.
func (s *subject) reference() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(s.space.env.kind())
	object.SetNamespace(s.space.namespace.Name)
	object.SetName(s.name)
	return object
}

// history returns the states that were seen since the kit made the object.
func (s *subject) history() []state {
	var own []state
	for _, each := range s.space.seen.history(s.name) {
		if each.GetUID() == s.wrote.GetUID() {
			own = append(own, each)
		}
	}
	return own
}

// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// foreignType and foreignField are what somebody else might write.
const (
	foreignType  = "conformance.5spot.finos.org/Seen"
	foreignField = "conformance"
)

func othersStatusIsKept(ctx context.Context, e *env) (finding, error) {
	made, err := e.createActive(ctx, "others")
	if err != nil {
		return finding{}, err
	}
	wrote, err := made.writeAsOther(ctx)
	refused := isRefused(err)
	if err != nil && !refused {
		return finding{}, err
	}
	if refused || missingForeign(wrote, wrote) != "" {
		return skip("the schema keeps nothing that others write into the status: let it have `conditions` of any type")
	}
	if err := e.flip(ctx, made, false); err != nil {
		return finding{}, err
	}
	flipped, err := made.await(ctx, func(object *unstructured.Unstructured) error { return activeIs(object, false) })
	if err != nil {
		return finding{}, err
	}
	return answer(missingForeign(wrote, flipped.Unstructured))
}

// writeAsOther adds a condition and a field to the status, as somebody who is
// not the provider, and returns the object as it was stored.
func (s *subject) writeAsOther(ctx context.Context) (*unstructured.Unstructured, error) {
	object, err := s.editStatus(ctx, func(status map[string]any) {
		conditions, _ := status["conditions"].([]any)
		status["conditions"] = append(conditions, map[string]any{
			"type": foreignType, "status": "True", "reason": "Seen", "message": "written by the conformance kit",
			"lastTransitionTime": s.space.env.clock.Now().UTC().Format(time.RFC3339),
		})
		status[foreignField] = "kept"
	})
	if err != nil {
		return nil, fmt.Errorf("writing a condition and a field of another writer: %w", err)
	}
	return object, nil
}

// editStatus changes the status as another writer than the provider, and returns
// the object as it was stored.
func (s *subject) editStatus(ctx context.Context, edit func(status map[string]any)) (*unstructured.Unstructured, error) {
	c := s.space.env.client
	object := s.reference()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		status, _ := object.Object["status"].(map[string]any)
		if status == nil {
			status = map[string]any{}
		}
		edit(status)
		object.Object["status"] = status
		return c.Status().Update(ctx, object, client.FieldOwner(fieldManager+"-other"))
	})
	if err != nil {
		return nil, err
	}
	s.own[object.GetResourceVersion()] = true
	return object, nil
}

// missingForeign says which part of what another wrote is gone; it is also the
// answer to whether anything was kept to begin with.
func missingForeign(wrote, now *unstructured.Unstructured) string {
	conditions := conditionsOf(wrote, foreignType)
	field := statusField(wrote, foreignField)
	switch {
	case len(conditions) == 0 && field == nil:
		return "nothing was kept"
	case len(conditions) > 0 && !reflect.DeepEqual(conditions, conditionsOf(now, foreignType)):
		return "a condition of another type was changed or removed"
	case field != nil && field != statusField(now, foreignField):
		return "a field of another writer was changed or removed"
	}
	return ""
}

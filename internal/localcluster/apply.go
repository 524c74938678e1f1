// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// fieldManager owns what is applied here.
const fieldManager = "fivespot-up"

// Apply applies the objects of a YAML stream: the definitions among them first,
// and the others once every one of those is served.
func (c *Cluster) Apply(ctx context.Context, manifest []byte) error {
	objects, err := decode(manifest)
	if err != nil {
		return err
	}
	return apply(ctx, c.client, objects)
}

// apply applies the definitions among the objects, waits until every one is
// served, and then applies the others in their order.
func apply(ctx context.Context, c client.WithWatch, objects []*unstructured.Unstructured) error {
	definitions, rest := split(objects)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8) // definitions are large and do not depend on each other
	for _, definition := range definitions {
		group.Go(func() error {
			if err := applyOne(groupCtx, c, definition); err != nil {
				return err
			}
			return awaitEstablished(groupCtx, c, definition.GetName())
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, object := range rest {
		if err := applyOne(ctx, c, object); err != nil {
			return err
		}
	}
	return nil
}

// split keeps the order within both halves.
func split(objects []*unstructured.Unstructured) (definitions, rest []*unstructured.Unstructured) {
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			definitions = append(definitions, object)
		} else {
			rest = append(rest, object)
		}
	}
	return definitions, rest
}

func applyOne(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
	if err := c.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("applying %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

func awaitEstablished(ctx context.Context, c client.WithWatch, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = name
	return await.Object(ctx, c, crd, func() error {
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return nil
			}
		}
		return errors.New("it is not served yet")
	})
}

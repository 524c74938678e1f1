// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// fieldManager owns what is applied here.
const fieldManager = "fivespot-up"

// apply applies the objects in their order, definitions first, and returns
// when every definition among them is served.
func apply(ctx context.Context, c client.WithWatch, objects []*unstructured.Unstructured) error {
	definitions, rest := split(objects)
	for _, definition := range definitions {
		if err := applyOne(ctx, c, definition); err != nil {
			return err
		}
	}
	for _, definition := range definitions {
		if err := awaitEstablished(ctx, c, definition.GetName()); err != nil {
			return err
		}
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

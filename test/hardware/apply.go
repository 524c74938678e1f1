// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
)

// Define applies CustomResourceDefinitions and returns when they are served.
func Define(ctx context.Context, c client.WithWatch, manifest []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		definition := &unstructured.Unstructured{}
		if err := decoder.Decode(&definition.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the definitions of the hardware: %w", err)
		}
		configuration := client.ApplyConfigurationFromUnstructured(definition.DeepCopy())
		if err := c.Apply(ctx, configuration, client.FieldOwner("hardware"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s: %w", definition.GetName(), err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name = definition.GetName()
		if err := await.Object(ctx, c, crd, func() error { return established(crd) }); err != nil {
			return err
		}
	}
}

func established(crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not served yet")
}

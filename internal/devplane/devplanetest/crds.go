// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fivespot/fivespot/internal/await"
	"github.com/fivespot/fivespot/internal/devplane"
)

var crdKind = schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}

// CRDs is a Setup that installs the CustomResourceDefinitions of deploy/.
func CRDs(p *devplane.Plane) error {
	return Deployed("crds/*_*.yaml")(p) // GROUP_PLURAL.yaml
}

// AwaitCRD returns when every version of the named CustomResourceDefinition
// that is to be served is served.
func AwaitCRD(tb testing.TB, name string) {
	tb.Helper()
	if err := awaitServed(Context(tb), Client(tb), name); err != nil {
		tb.Fatal(err)
	}
}

// servedPoll is between two looks at what is served.
const servedPoll = 20 * time.Millisecond

func awaitServed(ctx context.Context, c client.WithWatch, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = name
	if err := await.Object(ctx, c, crd, func() error { return established(crd) }); err != nil {
		return err
	}
	// The condition comes a moment before requests are routed and discovery
	// says so; neither has an event.
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.ListKind})
		err := wait.PollUntilContextCancel(ctx, servedPoll, true, func(ctx context.Context) (bool, error) {
			err := c.List(ctx, list, client.Limit(1))
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("waiting for %s of %s to be served: %w", version.Name, name, err)
		}
	}
	return nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse {
			return fmt.Errorf("its names are not accepted: %s", condition.Message)
		}
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not established")
}

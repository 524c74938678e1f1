// SPDX-License-Identifier: Apache-2.0

package devplanetest

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	spotschedulesv1alpha1 "github.com/fivespot/fivespot/api/spotschedules/v1alpha1"
	fivespotv1beta1 "github.com/fivespot/fivespot/api/v1beta1"
)

// NewScheme returns a new scheme with the kinds of Kubernetes, of
// CustomResourceDefinitions and of this project. Any other kind goes by
// unstructured.Unstructured.
func NewScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		fivespotv1beta1.AddToScheme,
		spotschedulesv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, fmt.Errorf("making a scheme: %w", err)
		}
	}
	return s, nil
}

// Client returns a client that may do everything and reads from the API server,
// not from a cache.
func Client(tb testing.TB) client.WithWatch {
	tb.Helper()
	return ClientFor(tb, Plane(tb).Config())
}

// ClientFor is Client for another user; see the configurations that a
// devplane.Plane makes.
func ClientFor(tb testing.TB, config *rest.Config) client.WithWatch {
	tb.Helper()
	c, err := newClient(config)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	s, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: s})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}
